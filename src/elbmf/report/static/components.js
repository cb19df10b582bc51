// The table of components: sorted by any column, found by the name of any member.

const PAGE_OF_COMPONENTS = 250;
// No more than the page has at hand before all names are unpacked (page.py).
const TOP_NAMES = 12;

const COMPONENT_COLUMNS = [
  { key: "component", title: "No.", format: String, first: "ascending" },
  { key: "rows", title: "Rows", format: whole },
  { key: "columns", title: "Columns", format: whole },
  {
    key: "precision",
    title: "Precision",
    format: percent,
    bar: true,
    help: "share of its cells that are ones",
  },
  {
    key: "recall",
    title: "Recall",
    format: percent,
    bar: true,
    help: "share of all ones that it covers",
  },
  { key: "covered", title: "Ones", format: whole, help: "ones that it covers" },
  { key: "alone", title: "Alone", format: whole, help: "ones that only it covers" },
  {
    key: "bits_saved",
    title: "Bits saved",
    format: whole,
    help: "by how many bits (zeros and ones in a file) the shortest description of the data is shorter "
      + "with it: the more, the more of the data it explains",
  },
  {
    key: "recurrence",
    title: "Recurs",
    format: percent,
    bar: true,
    help: "how alike its matches in fits of resampled data are, on average",
  },
  {
    key: "p_value",
    title: "p",
    format: short,
    first: "ascending",
    help: "how likely random data with the same sums has a component that is as good",
  },
];

// What is known of its rows and columns from elsewhere; the first is the most significant.
const BEST_COLUMNS = [
  {
    key: "labels",
    title: "Best label",
    help: "the label that its rows have more often than others do, and most significantly",
    there: ({ labels }) => labels !== null,
  },
  {
    key: "sets",
    title: "Best set",
    help: "the known set that its columns are most significantly rich in",
    there: ({ sets_title: title }) => title !== null,
  },
];

class ComponentsTable {
  constructor(report, axes, indexes) {
    this.report = report;
    this.axes = axes;
    this.indexes = indexes;
    this.table = byId("components-table");
    this.columns = COMPONENT_COLUMNS.filter(
      ({ key }) => key === "component" || report.components.some((each) => each[key] !== null),
    );
    this.greatest = Object.fromEntries(
      this.columns.map(({ key }) => [
        key,
        Math.max(0, ...report.components.map((each) => each[key] ?? 0)),
      ]),
    );
    this.best = BEST_COLUMNS.filter(({ there }) => there(report));
    this.sorted = { key: "component", direction: "ascending" };
    this.matches = null;
    this.shown = PAGE_OF_COMPONENTS;
    this.open = null;
    this.showHeader();
    this.table.tBodies[0].addEventListener("keydown", (event) => this.onKey(event));
    this.table.tBodies[0].addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      // Clicks that end a selection of text, or are on a link, are not for the row.
      if (!row || event.target.closest("a") || String(getSelection())) return;
      go("component", row.dataset.component);
    });
    byId("components-more").addEventListener("click", () => {
      this.shown += PAGE_OF_COMPONENTS;
      this.show();
    });
    byId("components-filter").addEventListener("input", (event) => this.filter(event.target.value));
    byId("components-filter").addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        this.table.tBodies[0].rows[0]?.focus();
      }
    });
    onRoute(({ kind, number }) => {
      this.open = kind === "component" ? number : null;
      this.markOpen();
    });
  }

  showHeader() {
    this.headers = this.columns.map(({ key, title, help, first }) => {
      const button = make("button", { type: "button", title: help ?? null }, title);
      button.addEventListener("click", () => {
        const start = first ?? "descending";
        const other = start === "ascending" ? "descending" : "ascending";
        const again = this.sorted.key === key && this.sorted.direction === start;
        this.sorted = { key, direction: again ? other : start };
        this.show();
      });
      return make("th", { scope: "col", "data-key": key }, button);
    });
    put(
      this.table.tHead,
      make(
        "tr",
        null,
        this.headers,
        this.best.map(({ key, title, help }) => make(`th.best.best-${key}`, { scope: "col", title: help }, title)),
        ["Columns that fit best", "Rows that fit best"].map((each) => make(
          "th.names",
          { scope: "col" },
          each,
        )),
      ),
    );
  }

  /** Components in the order wanted; what is not known comes last. */
  order() {
    const { key, direction } = this.sorted;
    const sign = direction === "ascending" ? 1 : -1;
    return this.report.components
      .filter(({ component }) => this.matches === null || this.matches.has(component))
      .sort((a, b) => {
        if (a[key] === null || b[key] === null) return (a[key] === null) - (b[key] === null);
        return sign * (a[key] - b[key]) || a.component - b.component;
      });
  }

  show() {
    const ordered = this.order();
    for (const header of this.headers) {
      const { key, direction } = this.sorted;
      if (header.dataset.key === key) header.setAttribute("aria-sort", direction);
      else header.removeAttribute("aria-sort");
    }
    put(
      this.table.tBodies[0],
      ordered.slice(0, this.shown).map((each, i) => this.rowOf(each, i === 0)),
    );
    const left = ordered.length - this.shown;
    const more = byId("components-more");
    more.hidden = left <= 0;
    const next = Math.min(left, PAGE_OF_COMPONENTS);
    put(more, `Show ${whole(next)} more of ${whole(ordered.length)}`);
    this.markOpen();
  }

  rowOf(each, reachable) {
    const cells = this.columns.map(({ key, format, bar: barred }) => {
      const value = key === "component"
        ? make("a", { href: `#component-${each.component}`, tabindex: "-1" }, `${each.component}`)
        : format(each[key]);
      const full = key === "recall" ? this.greatest[key] || 1 : 1;
      const share = barred && each[key] !== null ? each[key] / full : null;
      const mark = key === "component" && each.doubts.length
        ? make("abbr.doubt", { title: `may be chance: ${each.doubts.join(", ")}` }, "?")
        : null;
      return make(`td.${key}`, null, value, mark, share === null ? null : bar(share));
    });
    return make(
      "tr",
      { tabindex: reachable ? "0" : "-1", "data-component": each.component },
      cells,
      this.best.map(({ key }) => {
        const [first] = each[key];
        return make(`td.best.best-${key}`, null, first ? make("div.clamp", null, setName(first)) : UNKNOWN);
      }),
      this.names(each, "column", each.top_columns),
      this.names(each, "row", each.top_rows),
    );
  }

  /** Members that fit best, after those by whose name the component was found. */
  names({ component }, kind, members) {
    const axis = this.axes[kind];
    const found = this.matches?.get(component)?.[kind] ?? [];
    const best = members.slice(0, TOP_NAMES).map(([line]) => line);
    return make(
      "td.names",
      null,
      found.length ? make("div.match", null, axis.list(found, 40)) : null,
      make("div.clamp", null, axis.list(best, 40)),
    );
  }

  markOpen() {
    for (const row of this.table.tBodies[0].rows) {
      const open = Number(row.dataset.component) === this.open;
      if (open) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  onKey(event) {
    const row = event.target.closest("tr");
    const steps = {
      ArrowDown: row.nextElementSibling,
      ArrowUp: row.previousElementSibling ?? byId("components-filter"),
      Home: row.parentElement.firstElementChild,
      End: row.parentElement.lastElementChild,
    };
    if (event.key === "Enter" && event.target === row) {
      go("component", row.dataset.component);
    } else if (steps[event.key]) {
      event.preventDefault();
      const next = steps[event.key];
      if (next.matches("tr")) {
        row.tabIndex = -1;
        next.tabIndex = 0;
      }
      next.focus();
    }
  }

  /** Show only components with a member whose name contains a text. */
  async filter(text) {
    const note = byId("components-note");
    this.wanted = text;
    if (text.trim() === "") {
      this.matches = null;
      note.textContent = "";
      this.show();
      return;
    }
    note.textContent = "Searching …";
    const matches = new Map();
    for (const kind of ["row", "column"]) {
      const axis = this.axes[kind];
      const index = this.indexes[kind];
      const [{ starts, holders }] = await Promise.all([axis.holding(), index.ready()]);
      if (this.wanted !== text) return;
      const entries = axis.named ? index.containing(text.trim()) : numbered(axis, text);
      for (const { entry } of entries) {
        for (let i = starts[entry]; i < starts[entry + 1]; i++) {
          if (!matches.has(holders[i])) matches.set(holders[i], { row: [], column: [] });
          const found = matches.get(holders[i])[kind];
          if (found.length < 3) found.push(axis.lineOf(entry));
        }
      }
    }
    this.matches = matches;
    this.show();
    const all = whole(this.report.components.length);
    put(note, `${counted(matches.size, "component")} of ${all} with such a member`);
  }
}

/** The line that a number tells, where lines have no names. */
function numbered(axis, text) {
  const number = numberIn(text, axis.kind);
  if (number === null) return [];
  const entry = axis.entryOf(number);
  return entry < 0 ? [] : [{ entry }];
}
