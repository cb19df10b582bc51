// Keys that work anywhere on the page, and the list of all keys.

const KEYS = [
  ["/", "search for a row, column or component"],
  ["?", "show these keys"],
  ["Esc", "close what is open"],
  ["↑ ↓", "in the table or a list of results: move"],
  ["Enter", "open what is chosen"],
  ["n, p", "next and previous component"],
  ["← → ↑ ↓", "in the matrix: move"],
  ["+ −", "in the matrix: zoom; 0 shows the whole"],
];

function typing(target) {
  return target.closest?.("input, textarea, select, [contenteditable]");
}

function startKeyboard(report) {
  const dialog = byId("keys");
  put(
    dialog,
    make("h2", { id: "keys-title" }, "Keys"),
    make(
      "dl.keys",
      null,
      KEYS.map(([key, what]) => make(
        "div",
        null,
        make("dt", null, make("kbd", null, key)),
        make("dd", null, what),
      )),
    ),
    make("form", { method: "dialog" }, make("button", null, "Close")),
  );
  const showKeys = () => dialog.open || dialog.showModal();
  byId("show-keys").addEventListener("click", showKeys);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  const step = (by) => {
    const count = report.components.length;
    if (!count) return;
    const from = route.kind === "component" ? route.number : by > 0 ? -1 : count;
    go("component", (from + by + count) % count);
  };
  const keys = {
    "/": () => {
      byId("search-input").focus();
      byId("search-input").select();
    },
    "?": showKeys,
    n: () => step(1),
    p: () => step(-1),
  };
  document.addEventListener("keydown", (event) => {
    const combined = event.ctrlKey || event.metaKey || event.altKey;
    if (event.defaultPrevented || combined || dialog.open) return;
    if (event.key === "Escape" && !typing(event.target)) {
      closeDetail();
    } else if (Object.hasOwn(keys, event.key) && !typing(event.target)) {
      event.preventDefault();
      keys[event.key]();
    }
  });
}
