// The colours of the style, for what is drawn on canvases, and the switch from light to dark.

const themeListeners = [];

/** Call back when colours change. */
function onTheme(listener) {
  themeListeners.push(listener);
}

/** Read a colour of the style as red, green, blue. */
function colour(name) {
  const probe = byId("colour-probe") ?? document.body.appendChild(make(
    "i",
    { id: "colour-probe", hidden: true },
  ));
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
}

function css([red, green, blue], alpha = 1) {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

function redrawn() {
  for (const listener of themeListeners) listener();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function startTheme() {
  const root = document.documentElement;
  const remember = (theme) => {
    // Pages opened from a disk may not be allowed to remember anything.
    try {
      localStorage.setItem("elbmf-theme", theme);
    } catch {}
  };
  try {
    const theme = localStorage.getItem("elbmf-theme");
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  } catch {}
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    redrawn();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawn);
  // Paper is white: what is drawn on canvases is drawn anew for it.
  const printing = (yes) => {
    root.toggleAttribute("data-printing", yes);
    redrawn();
  };
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    printing(true);
  });
  addEventListener("afterprint", () => printing(false));
}
