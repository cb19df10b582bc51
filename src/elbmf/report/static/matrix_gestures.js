// How to move about in the matrix: wheel, pinch, drag, keys and buttons.

const CLICK_DISTANCE = 5;
// Milliseconds after which a click is not the first half of a double click.
const DOUBLE_CLICK = 220;
const PAN_STEP = 0.2;
const ZOOM_STEP = 1.5;

function startGestures(view) {
  const { canvas, frame } = view;
  const pointers = new Map();
  let moved = 0;
  let opening = 0;
  let pageScrolled = 0;

  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { size: Math.hypot(a.x - b.x, a.y - b.y) || 1, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  };

  addEventListener("scroll", () => {
    pageScrolled = performance.now();
  }, { passive: true });

  canvas.addEventListener("wheel", (event) => {
    // A page on its way down is not stopped when the matrix comes under the pointer.
    const scrolling = performance.now() - pageScrolled < 300;
    const outward = event.deltaY > 0;
    if (!event.ctrlKey && (scrolling || (outward && view.whole) || event.deltaY === 0)) return;
    event.preventDefault();
    const { x, y } = point(event);
    view.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), x, y);
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    // Other buttons open menus, which keep to themselves that the button was lifted.
    if (event.button !== 0) return;
    pointers.set(event.pointerId, point(event));
    moved = pointers.size > 1 ? CLICK_DISTANCE + 1 : 0;
    canvas.setPointerCapture(event.pointerId);
  });

  canvas.addEventListener("pointermove", (event) => {
    const now = point(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      view.look(now.x, now.y);
      return;
    }
    const old = pointers.size > 1 ? spread() : before;
    pointers.set(event.pointerId, now);
    const current = pointers.size > 1 ? spread() : now;
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (moved <= CLICK_DISTANCE) return;
    view.pan(-(current.x - old.x) / view.plot.width, -(current.y - old.y) / view.plot.height);
    if (pointers.size > 1) view.zoom(current.size / old.size, current.x, current.y);
  });

  const lift = (event) => {
    const known = pointers.delete(event.pointerId);
    if (!known || event.type === "pointercancel" || moved > CLICK_DISTANCE) return;
    const { x, y } = point(event);
    view.look(x, y);
    // A finger cannot point without touching: it is told what is here, with links to open it.
    if (event.pointerType !== "mouse") return;
    clearTimeout(opening);
    // By then the pointer may be elsewhere.
    opening = setTimeout((bin) => view.openAt(bin), DOUBLE_CLICK, view.bin);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !pointers.size) view.look(null, null);
  });
  canvas.addEventListener("dblclick", () => {
    clearTimeout(opening);
    view.showWhole();
  });

  const keys = {
    ArrowLeft: () => view.pan(-PAN_STEP, 0),
    ArrowRight: () => view.pan(PAN_STEP, 0),
    ArrowUp: () => view.pan(0, -PAN_STEP),
    ArrowDown: () => view.pan(0, PAN_STEP),
    "+": () => view.zoom(ZOOM_STEP),
    "=": () => view.zoom(ZOOM_STEP),
    "-": () => view.zoom(1 / ZOOM_STEP),
    0: () => view.showWhole(),
    Home: () => view.showWhole(),
  };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== frame) return;
    if (event.key === "Enter") {
      if (!view.bin) lookAtMiddle(view);
      view.openAt(view.bin);
    } else if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
      lookAtMiddle(view);
    }
  });
  byId("zoom-in").addEventListener("click", () => view.zoom(ZOOM_STEP));
  byId("zoom-out").addEventListener("click", () => view.zoom(1 / ZOOM_STEP));
  byId("zoom-blocks").addEventListener("click", () => view.showBlocks());
  byId("zoom-reset").addEventListener("click", () => view.showWhole());
}

/** With keys, the middle of what is in view is what is looked at. */
function lookAtMiddle(view) {
  view.look(GUTTER.left + view.plot.width / 2, GUTTER.top + view.plot.height / 2);
}

function startModes(view) {
  const modes = modesOf(view.grid);
  const buttons = modes.map((mode) =>
    make("button", { type: "button", role: "radio", "data-mode": mode }, MODES[mode].title),
  );
  const choose = (chosen) => {
    view.mode = modes[chosen];
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(i === chosen));
      button.tabIndex = i === chosen ? 0 : -1;
    });
    view.schedule();
  };
  buttons.forEach((button, i) => {
    button.addEventListener("click", () => choose(i));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = (i + step + modes.length) % modes.length;
      choose(next);
      buttons[next].focus();
    });
  });
  put(byId("matrix-modes"), buttons);
  choose(0);
}

/** How many lines there are in bins: "3", "2–40". */
function binSizes(edges) {
  const sizes = Array.from(edges).slice(1).map((edge, i) => edge - edges[i]);
  const [least, most] = [
    sizes.reduce((a, b) => Math.min(a, b)),
    sizes.reduce((a, b) => Math.max(a, b)),
  ];
  return least === most ? whole(least) : `${whole(least)}–${whole(most)}`;
}

/** Show the matrix of a report, where there is one; done when it is drawn. */
async function showMatrix(report, axes) {
  // That of a stream, which keeps no rows, has no cells.
  const none = !axes.row.count || !axes.column.count;
  byId("matrix").hidden = byId("to-matrix").hidden = none;
  if (none) return null;
  put(byId("matrix-text"), matrixText(report));
  const grid = await unpackGrid(report.matrix);
  const view = new MatrixView(report, axes, grid);
  const bin = `a bin of ${binSizes(grid.rowEdges)} × ${binSizes(grid.columnEdges)} cells`;
  put(byId("matrix-note"), [
    `Each point is ${grid.exact ? "a cell" : bin}.`,
    "Rows and columns are ordered so that components show as blocks; numbers tell which.",
    view.whole ? "" : "At first only the part with components is in view.",
  ].join(" "));
  put(byId("matrix-readout"), make("span.note", null, readoutHint()));
  startModes(view);
  startGestures(view);
  onTheme(() => view.recolour());
  new ResizeObserver(() => view.schedule()).observe(view.canvas);
  onRoute(({ kind, number }) => view.select(
    kind === "component" && number < report.components.length ? number : null,
  ));
  drawMatrix(view);
  return view;
}
