// The matrix in block order: a picture to move about in, and what is at a place of it.

const GUTTER = { left: 34, top: 20 };
const FEWEST_BINS = 5;
// Lines of a bin of which components are looked up; more are not told apart by eye anyway.
const MOST_LINES_OF_BIN = 2000;

class MatrixView {
  constructor(report, axes, grid) {
    this.report = report;
    this.axes = axes;
    this.grid = grid;
    this.canvas = byId("matrix-canvas");
    this.frame = byId("matrix-frame");
    this.mode = modesOf(grid)[0];
    this.selected = null;
    this.markedLine = null;
    this.bin = null;
    this.scheduled = false;
    this.pictures = {};
    this.lookup = null;
    this.spans = once(() => {
      const inBins = (spans, edges) => spans.map(([low, high]) => [binOf(edges, low), binOf(edges, high)]);
      return report.components.map(({ row_spans: rows, column_spans: columns }) => ({
        rows: inBins(rows, grid.rowEdges),
        columns: inBins(columns, grid.columnEdges),
      }));
    });
    this.lookUp = once(async () => {
      const { row, column } = this.axes;
      const [rowsAt, columnsAt, rowHolding, columnHolding] = await Promise.all([
        row.entriesAtPlaces(), column.entriesAtPlaces(), row.holding(), column.holding(),
      ]);
      this.lookup = { row: { at: rowsAt, ...rowHolding }, column: { at: columnsAt, ...columnHolding } };
    });
    this.home = null;
    this.showHome();
  }

  // What part is in view, in bins.

  showWhole() {
    this.setView(0, 0, this.grid.columns, this.grid.rows);
  }

  /**
   * Begin with the part that has components, where that is small, else with all. Until it is left,
   * fingers scroll the page.
   */
  showHome() {
    this.showWhole();
    this.showBlocks();
    if (this.view.width * this.view.height > (this.grid.columns * this.grid.rows) / 2) this.showWhole();
    this.home = this.view;
    this.frame.classList.remove("zoomed");
  }

  get whole() {
    return this.view.width >= this.grid.columns && this.view.height >= this.grid.rows;
  }

  setView(left, top, width, height) {
    const { rows, columns } = this.grid;
    width = Math.max(Math.min(width, columns), Math.min(FEWEST_BINS, columns));
    height = Math.max(Math.min(height, rows), Math.min(FEWEST_BINS, rows));
    this.view = {
      left: Math.max(0, Math.min(left, columns - width)),
      top: Math.max(0, Math.min(top, rows - height)),
      width,
      height,
    };
    this.frame.classList.toggle("zoomed", !this.whole && JSON.stringify(this.view) !== JSON.stringify(this.home));
    this.schedule();
  }

  /** Zoom about a point of the canvas; its middle by default. */
  zoom(factor, x = null, y = null) {
    const { left, top, width, height } = this.view;
    const at = x === null ? { column: left + width / 2, row: top + height / 2 } : this.toBins(x, y);
    this.setView(
      at.column - (at.column - left) / factor,
      at.row - (at.row - top) / factor,
      width / factor,
      height / factor,
    );
  }

  /** Move by a share of what is in view. */
  pan(shareRight, shareDown) {
    const { left, top, width, height } = this.view;
    this.setView(left + shareRight * width, top + shareDown * height, width, height);
  }

  // Between bins and points of the canvas.

  get plot() {
    return {
      width: Math.max(1, this.canvas.clientWidth - GUTTER.left),
      height: Math.max(1, this.canvas.clientHeight - GUTTER.top),
    };
  }

  toBins(x, y) {
    const { left, top, width, height } = this.view;
    return {
      column: left + ((x - GUTTER.left) / this.plot.width) * width,
      row: top + ((y - GUTTER.top) / this.plot.height) * height,
    };
  }

  toX(column) {
    return GUTTER.left + ((column - this.view.left) / this.view.width) * this.plot.width;
  }

  toY(row) {
    return GUTTER.top + ((row - this.view.top) / this.view.height) * this.plot.height;
  }

  // Drawing.

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  recolour() {
    this.pictures = {};
    this.draw();
  }

  draw() {
    const density = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * density) || this.canvas.height !== Math.round(height * density)) {
      this.canvas.width = Math.round(width * density);
      this.canvas.height = Math.round(height * density);
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, width, height);
    const picture = (this.pictures[this.mode] ??= paint(this.grid, this.mode));
    const { width: plotWidth, height: plotHeight } = this.plot;
    context.save();
    context.beginPath();
    context.rect(GUTTER.left, GUTTER.top, plotWidth, plotHeight);
    context.clip();
    const part = this.shrunk(picture.image, plotWidth * density, plotHeight * density);
    context.imageSmoothingEnabled = false;
    context.drawImage(part.image, part.left, part.top, part.width, part.height, GUTTER.left, GUTTER.top, plotWidth, plotHeight);
    this.drawOutlines(context);
    this.drawMarks(context);
    context.restore();
    context.strokeStyle = css(colour("rule"));
    context.strokeRect(GUTTER.left - 0.5, GUTTER.top - 0.5, plotWidth + 0.5, plotHeight + 0.5);
    this.drawTicks(context);
    put(byId("matrix-legend"), legendOf(this.grid, this.mode, picture.full));
  }

  /** What is in view, with bins that are smaller than pixels blended; others keep their edges. */
  shrunk(image, width, height) {
    const { view } = this;
    if (view.width <= width && view.height <= height) return { image, ...view };
    const size = { width: Math.ceil(Math.min(width, view.width)), height: Math.ceil(Math.min(height, view.height)) };
    const small = make("canvas", size);
    const context = small.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, view.left, view.top, view.width, view.height, 0, 0, size.width, size.height);
    return { image: small, left: 0, top: 0, ...size };
  }

  spansOf(component) {
    return this.spans()[component];
  }

  drawOutlines(context) {
    if (this.selected === null) return;
    const { rows, columns } = this.spansOf(this.selected);
    const down = joined(rows.map((span) => span.map((bin) => this.toY(bin))));
    const across = joined(columns.map((span) => span.map((bin) => this.toX(bin))));
    for (const [style, lineWidth] of [[css(colour("paper"), 0.9), 4], [css(colour("accent")), 2]]) {
      context.strokeStyle = style;
      context.lineWidth = lineWidth;
      for (const [y, bottom] of down) {
        for (const [x, right] of across) context.strokeRect(x, y, Math.max(3, right - x), Math.max(3, bottom - y));
      }
    }
    context.lineWidth = 1;
  }

  /** Show where the pointer is, and the line that was looked for. */
  drawMarks(context) {
    const { width, height } = this.plot;
    if (this.bin) {
      context.fillStyle = css(colour("ink"), 0.13);
      const [x, y] = [this.toX(this.bin.column), this.toY(this.bin.row)];
      context.fillRect(GUTTER.left, y, width, Math.max(1, this.toY(this.bin.row + 1) - y));
      context.fillRect(x, GUTTER.top, Math.max(1, this.toX(this.bin.column + 1) - x), height);
    }
    if (this.markedLine) {
      context.fillStyle = css(colour("accent"), 0.75);
      const { kind, bin } = this.markedLine;
      if (kind === "row") context.fillRect(GUTTER.left, this.toY(bin), width, Math.max(2, this.toY(bin + 1) - this.toY(bin)));
      else context.fillRect(this.toX(bin), GUTTER.top, Math.max(2, this.toX(bin + 1) - this.toX(bin)), height);
    }
  }

  /** Numbers of components beside their longest stretches, as many as there is room for. */
  drawTicks(context) {
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const { width, height } = this.plot;
    const sides = [
      { key: "rows", to: (bin) => this.toY(bin), low: GUTTER.top, high: GUTTER.top + height, room: () => 13, line: (a, b) => [GUTTER.left - 5, a, 2, b - a], text: (at) => [GUTTER.left / 2 - 3, at] },
      { key: "columns", to: (bin) => this.toX(bin), low: GUTTER.left, high: GUTTER.left + width, room: (text) => 7 * text.length + 8, line: (a, b) => [a, GUTTER.top - 5, b - a, 2], text: (at) => [at, GUTTER.top / 2 - 2] },
    ];
    for (const { key, to, low, high, room, line, text } of sides) {
      const stretches = this.report.components
        .map((each, component) => ({ component, spans: this.spansOf(component)[key] }))
        .filter(({ spans }) => spans.length)
        .map(({ component, spans: [[from, end]] }) => ({
          component,
          from: Math.max(low, to(from)),
          end: Math.min(high, to(end)),
          chosen: component === this.selected,
        }))
        .filter(({ from, end }) => end > from)
        .sort((a, b) => b.chosen - a.chosen || b.end - b.from - (a.end - a.from));
      const taken = [];
      for (const { component, from, end, chosen } of stretches) {
        const middle = (from + end) / 2;
        const reach = room(String(component));
        if (taken.some((other) => Math.abs(other.middle - middle) < (other.reach + reach) / 2)) continue;
        taken.push({ middle, reach });
        context.fillStyle = css(colour(chosen ? "accent" : "faint"));
        context.fillRect(...line(from + 1, Math.max(from + 2, end - 1)));
        context.fillStyle = css(colour(chosen ? "accent" : "muted"));
        context.fillText(String(component), ...text(middle));
      }
    }
  }

  // What is at a place.

  /** Look at the bin at a point of the canvas, or at none. */
  async look(x, y) {
    const at = x === null ? null : this.toBins(x, y);
    const inside = at && at.row >= 0 && at.column >= 0 && at.row < this.grid.rows && at.column < this.grid.columns && x >= GUTTER.left && y >= GUTTER.top;
    this.bin = inside ? { row: Math.floor(at.row), column: Math.floor(at.column) } : null;
    this.schedule();
    await this.lookUp();
    this.tell();
  }

  /** Say what is at the bin looked at. */
  tell() {
    const readout = byId("matrix-readout");
    if (!this.bin) {
      put(readout, make("span.note", null, readoutHint()));
      return;
    }
    const components = this.componentsAt(this.bin);
    put(
      readout,
      make("div", null, this.linesText("row", this.bin.row), " × ", this.linesText("column", this.bin.column)),
      make("div", null, this.cellText(this.bin)),
      make(
        "div",
        null,
        components.length ? "in " : "in no component",
        components.slice(0, 8).map((component, i) => [
          i ? ", " : "",
          make("a", { href: `#component-${component}` }, `component ${component}`),
        ]),
        components.length > 8 ? ` and ${counted(components.length - 8, "other")}` : "",
      ),
    );
  }

  linesText(kind, bin) {
    const axis = this.axes[kind];
    const edges = kind === "row" ? this.grid.rowEdges : this.grid.columnEdges;
    const [low, high] = [edges[bin], edges[bin + 1]];
    const named = (place) => {
      const entry = this.lookup[kind].at[place];
      return entry < 0 ? make("span", null, `a ${kind} left out`) : axis.link(axis.lineOf(entry), 40);
    };
    if (high - low === 1) return named(low);
    return make("span", null, named(low), " … ", named(high - 1), ` (${counted(high - low, kind)})`);
  }

  cellText({ row, column }) {
    const i = row * this.grid.columns + column;
    const [hit, missed, extra] = ["hit", "missed", "extra"].map((part) => this.grid[part]?.[i] ?? 0);
    if (this.grid.exact) {
      if (!this.grid.missed) return hit ? "covered" : "not covered";
      return hit ? "a one, covered" : missed ? "a one, missed" : extra ? "a zero, but covered" : "a zero";
    }
    if (!this.grid.missed) return `${percent(hit / 255)} covered`;
    if (!hit && !missed) return extra ? `no ones; ${percent(extra / 255)} covered zeros` : "no ones, nothing covered";
    return `${percent((hit + missed) / 255)} ones: ${percent(hit / 255)} covered, ${percent(missed / 255)} missed; ${percent(extra / 255)} covered zeros`;
  }

  /** Components with rows and columns in a bin, those first that have most there. */
  componentsAt({ row, column }) {
    const held = (kind, edges, bin) => {
      const { at, starts, holders } = this.lookup[kind];
      const counts = new Map();
      const end = Math.min(edges[bin + 1], edges[bin] + MOST_LINES_OF_BIN);
      for (let place = edges[bin]; place < end; place++) {
        const entry = at[place];
        if (entry < 0) continue;
        for (let i = starts[entry]; i < starts[entry + 1]; i++) {
          counts.set(holders[i], (counts.get(holders[i]) ?? 0) + 1);
        }
      }
      return counts;
    };
    const rows = held("row", this.grid.rowEdges, row);
    const columns = held("column", this.grid.columnEdges, column);
    return [...rows.keys()]
      .filter((component) => columns.has(component))
      .sort((a, b) => rows.get(b) * columns.get(b) - rows.get(a) * columns.get(a) || a - b);
  }

  /** Open a component of the bin looked at; of several the next one each time. */
  async openHere() {
    await this.lookUp();
    if (!this.bin) return;
    const here = this.componentsAt(this.bin);
    if (here.length) go("component", here[(here.indexOf(this.selected) + 1) % here.length]);
  }

  // What is chosen elsewhere.

  select(component) {
    this.selected = component;
    this.markedLine = null;
    this.schedule();
  }

  /** Move to a component. */
  showComponent(component) {
    const { rows, columns } = this.spansOf(component);
    this.showBins(rows.flat(), columns.flat());
    byId("matrix").scrollIntoView();
  }

  /** Move to where components are, without lines that are in none. */
  showBlocks() {
    const spans = this.report.components.map((_, component) => this.spansOf(component));
    this.showBins(spans.flatMap(({ rows }) => rows.flat()), spans.flatMap(({ columns }) => columns.flat()));
  }

  /** Bring some bins into view, with a margin. */
  showBins(rows, columns) {
    if (!rows.length || !columns.length) return;
    const range = (bins) => {
      const [low, high] = [bins.reduce((a, b) => Math.min(a, b)), bins.reduce((a, b) => Math.max(a, b))];
      return [low - (high - low) * 0.04, (high - low) * 1.08];
    };
    const [[top, height], [left, width]] = [range(rows), range(columns)];
    this.setView(left, top, width, height);
  }

  /** Move to a line and mark it. */
  async showLine(kind, line) {
    const axis = this.axes[kind];
    await axis.names();
    const places = await axis.places();
    const edges = kind === "row" ? this.grid.rowEdges : this.grid.columnEdges;
    const bin = Math.floor(binOf(edges, places[axis.entryOf(line)]));
    this.markedLine = { kind, bin };
    const { rows, columns } = this.grid;
    if (kind === "row") this.setView(0, bin - Math.min(20, rows / 2), columns, Math.min(40, rows));
    else this.setView(bin - Math.min(20, columns / 2), 0, Math.min(40, columns), rows);
    byId("matrix").scrollIntoView();
  }
}

/** Join stretches that are too close to be told apart. */
function joined(stretches) {
  const result = [];
  for (const [low, high] of [...stretches].sort((a, b) => a[0] - b[0])) {
    const last = result[result.length - 1];
    if (last && low - last[1] < 6) last[1] = Math.max(last[1], high);
    else result.push([low, high]);
  }
  return result;
}

function readoutHint() {
  return matchMedia("(hover: hover)").matches
    ? "Point at a place to see what is there; click to open its component."
    : "Tap a place to see what is there.";
}

/** The matrix in words, for those who do not see it. */
function matrixText(report) {
  const { summary } = report;
  const parts = [
    `${counted(summary.rows, "row")} and ${counted(summary.columns, "column")}, ordered so that ${counted(summary.used, "component")} show as blocks.`,
  ];
  if (summary.measures) {
    parts.push(
      `${percent(summary.measures.recall)} of the ones are covered;`,
      `${whole(summary.missed)} are missed, and ${whole(summary.extra)} zeros are covered.`,
    );
  }
  const largest = [...report.components].sort((a, b) => b.rows * b.columns - a.rows * a.columns).slice(0, 5);
  for (const { component, rows, columns } of largest) {
    parts.push(`Component ${component}: ${counted(rows, "row")} by ${counted(columns, "column")}.`);
  }
  return parts.join(" ");
}
