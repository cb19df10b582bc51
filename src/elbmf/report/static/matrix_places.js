// What is at a place of the matrix: rows, columns, cells and components.

// Lines of a bin of which components are looked up; more are not told apart by eye anyway.
const MOST_LINES_OF_BIN = 2000;
const MOST_COMPONENTS_TOLD = 8;

class Places {
  constructor(axes, grid, missing) {
    this.axes = axes;
    this.grid = grid;
    this.missing = missing;
    this.lines = null;
    this.ready = once(async () => {
      const [row, column] = await Promise.all(
        [axes.row, axes.column].map(async (axis) => {
          const [at, holding] = await Promise.all([axis.entriesAtPlaces(), axis.holding()]);
          return { at, ...holding };
        }),
      );
      this.lines = { row, column };
    });
  }

  edges(kind) {
    return kind === "row" ? this.grid.rowEdges : this.grid.columnEdges;
  }

  /** Say what is in a bin. */
  describe(bin) {
    const components = this.componentsAt(bin);
    const left = components.length - MOST_COMPONENTS_TOLD;
    const links = components
      .slice(0, MOST_COMPONENTS_TOLD)
      .map((each) => componentLink(each));
    return [
      make("div", null, this.names("row", bin.row), " × ", this.names("column", bin.column)),
      make("div", null, this.cells(bin, components.length > 0)),
      make(
        "div",
        null,
        components.length ? "in " : "in no component",
        listed(links),
        left > 0 ? ` and ${counted(left, "other")}` : "",
      ),
    ];
  }

  /** The name of the line of a bin; of several the first and the last. */
  names(kind, bin) {
    const axis = this.axes[kind];
    const [low, high] = this.edges(kind).subarray(bin, bin + 2);
    const named = (place) => {
      const entry = this.lines[kind].at[place];
      return entry < 0 ? `a ${kind} left out` : axis.link(axis.lineOf(entry), 40);
    };
    if (high - low === 1) return named(low);
    return [named(low), " … ", named(high - 1), ` (${counted(high - low, kind)})`];
  }

  cells({ row, column }, held) {
    const { grid } = this;
    const at = row * grid.columns + column;
    const [hit, missed, extra] = [grid.hit, grid.missed, grid.extra].map((part) => part?.[at] ?? 0);
    if (grid.exact) {
      if (!grid.missed) return hit ? "covered" : "not covered";
      if (hit || missed) return hit ? "a one, covered" : "a one, missed";
      if (extra) return "a zero, but covered";
      // What is covered and known is either a one or an extra.
      if (held && this.missing) return "missing";
      return this.missing ? "a zero, or missing" : "a zero";
    }
    const [ones, covered, lacking, zeros] = [hit + missed, hit, missed, extra].map((each) =>
      percent(each / 255),
    );
    if (!grid.missed) return `${covered} covered`;
    if (!hit && !missed) return extra ? `no ones; ${zeros} covered zeros` : "no ones, none covered";
    return `${ones} ones: ${covered} covered, ${lacking} missed; ${zeros} covered zeros`;
  }

  /** Components with rows and columns in a bin, those first that have most there. */
  componentsAt({ row, column }) {
    const [rows, columns] = [this.holders("row", row), this.holders("column", column)];
    return [...rows.keys()]
      .filter((component) => columns.has(component))
      .sort((a, b) => rows.get(b) * columns.get(b) - rows.get(a) * columns.get(a) || a - b);
  }

  /** How many lines of a bin each component holds. */
  holders(kind, bin) {
    const { at, starts, holders } = this.lines[kind];
    const [low, high] = this.edges(kind).subarray(bin, bin + 2);
    const counts = new Map();
    for (let place = low; place < Math.min(high, low + MOST_LINES_OF_BIN); place++) {
      const entry = at[place];
      if (entry < 0) continue;
      for (let i = starts[entry]; i < starts[entry + 1]; i++) {
        counts.set(holders[i], (counts.get(holders[i]) ?? 0) + 1);
      }
    }
    return counts;
  }
}

function readoutHint() {
  return matchMedia("(hover: hover)").matches
    ? "Point at a place to see what is there; click to open its component."
    : "Tap a place to see what is there.";
}

/** The matrix in words, for those who do not see it. */
function matrixText({ summary, components }) {
  const size = `${counted(summary.rows, "row")} and ${counted(summary.columns, "column")}`;
  const parts = [`${size}, ordered so that ${counted(summary.used, "component")} show as blocks.`];
  if (summary.measures) {
    parts.push(
      `${percent(summary.measures.recall)} of the ones are covered;`,
      `${whole(summary.missed)} are missed, and ${whole(summary.extra)} zeros are covered.`,
    );
  }
  const area = (each) => each.rows * each.columns;
  const largest = [...components].sort((a, b) => area(b) - area(a)).slice(0, 5);
  for (const { component, rows, columns } of largest) {
    parts.push(`Component ${component}: ${counted(rows, "row")} by ${counted(columns, "column")}.`);
  }
  return parts.join(" ");
}
