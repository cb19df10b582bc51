// The matrix in block order: what part of it is in view, and what is looked at.

const FEWEST_BINS = 5;
// Bins about a line that is looked for.
const NEIGHBOURS = 20;

class MatrixView {
  constructor(report, axes, grid) {
    this.report = report;
    this.axes = axes;
    this.grid = grid;
    this.places = new Places(axes, grid, report.summary.missing);
    this.canvas = byId("matrix-canvas");
    this.frame = byId("matrix-frame");
    this.mode = modesOf(grid)[0];
    this.selected = null;
    this.markedLine = null;
    this.bin = null;
    this.scheduled = false;
    this.pictures = {};
    this.spans = once(() => {
      const inBins = (spans, edges) =>
        spans.map((span) => span.map((place) => binOf(edges, place)));
      return report.components.map(({ row_spans: rows, column_spans: columns }) => ({
        rows: inBins(rows, grid.rowEdges),
        columns: inBins(columns, grid.columnEdges),
      }));
    });
    this.home = null;
    this.showHome();
  }

  /** The runs of a component in bins, the longest first. */
  spansOf(component) {
    return this.spans()[component];
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
    const all = this.view.width * this.view.height;
    this.showBlocks();
    if (this.view.width * this.view.height > all / 2) this.showWhole();
    this.home = this.view;
    this.frame.classList.remove("zoomed");
  }

  /** Move to where components are, without lines that are in none. */
  showBlocks() {
    const spans = this.spans();
    this.showBins(spans.flatMap(({ rows }) => rows), spans.flatMap(({ columns }) => columns));
  }

  /** Move to a component or a line. */
  async show(kind, number) {
    if (kind === "component") {
      this.selected = number;
      const { rows, columns } = this.spansOf(number);
      this.showBins(rows, columns);
    } else {
      await this.showLine(kind, number);
    }
    byId("matrix").scrollIntoView();
  }

  /** Move to a line and mark it. */
  async showLine(kind, line) {
    const axis = this.axes[kind];
    const [places] = await Promise.all([axis.places(), axis.names()]);
    const bin = Math.floor(binOf(this.places.edges(kind), places[axis.entryOf(line)]));
    this.markedLine = { kind, bin };
    const { rows, columns } = this.grid;
    const [low, size] = [bin - NEIGHBOURS, 2 * NEIGHBOURS];
    if (kind === "row") this.setView(0, low, columns, size);
    else this.setView(low, 0, size, rows);
  }

  /** Bring runs of rows and columns into view, with a margin. */
  showBins(rows, columns) {
    if (!rows.length || !columns.length) return;
    const range = (runs) => {
      const low = runs.reduce((least, [from]) => Math.min(least, from), Infinity);
      const high = runs.reduce((most, [, end]) => Math.max(most, end), 0);
      return [low - (high - low) * 0.04, (high - low) * 1.08];
    };
    const [[top, height], [left, width]] = [range(rows), range(columns)];
    this.setView(left, top, width, height);
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
    const atHome = JSON.stringify(this.view) === JSON.stringify(this.home);
    this.frame.classList.toggle("zoomed", !this.whole && !atHome);
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

  // What is drawn.

  picture() {
    return (this.pictures[this.mode] ??= paint(this.grid, this.mode));
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      drawMatrix(this);
    });
  }

  recolour() {
    this.pictures = {};
    drawMatrix(this);
  }

  /** Outline a component. */
  select(component) {
    this.selected = component;
    this.markedLine = null;
    this.schedule();
  }

  // What is looked at.

  /** Look at the bin at a point of the canvas, or at none, and tell what is there. */
  async look(x, y) {
    this.bin = x === null || x < GUTTER.left || y < GUTTER.top ? null : this.binAt(x, y);
    this.schedule();
    await this.places.ready();
    const hint = () => make("span.note", null, readoutHint());
    put(byId("matrix-readout"), this.bin ? this.places.describe(this.bin) : hint());
  }

  binAt(x, y) {
    const at = this.toBins(x, y);
    const [row, column] = [Math.floor(at.row), Math.floor(at.column)];
    return row < this.grid.rows && column < this.grid.columns ? { row, column } : null;
  }

  /** Open a component of a bin; of several the next one each time. */
  async openAt(bin) {
    if (!bin) return;
    await this.places.ready();
    const here = this.places.componentsAt(bin);
    if (here.length) go("component", here[(here.indexOf(this.selected) + 1) % here.length]);
  }
}
