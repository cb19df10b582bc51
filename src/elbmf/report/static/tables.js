// Tables of what the page holds, as csv files that the browser makes itself.

// What spreadsheets take for a formula begins so (as elbmf.io.long_tables has it).
const FORMULA = /^[=+\-@\t\r]/;
const LINES_AT_ONCE = 5000;

/** A field of csv. Names that look like formulas get a quote before them, if that is wanted. */
function csvField(value, harmless) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = harmless && FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Write a table as csv, in pieces between which the page answers. */
async function csvOf({ titles, lines }, harmless) {
  const lineOf = (line) => `${line.map((each) => csvField(each, harmless)).join(",")}\n`;
  const pieces = [lineOf(titles)];
  let piece = [];
  for await (const line of lines) {
    piece.push(lineOf(line));
    if (piece.length === LINES_AT_ONCE) {
      pieces.push(piece.join(""));
      piece = [];
      await breathe();
    }
  }
  return new Blob([...pieces, piece.join("")], { type: "text/csv;charset=utf-8" });
}

/** Let the browser save a file. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser may still be about to read it.
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function showTables(report, axes) {
  const tables = [
    ["components", "a line for each component, with its figures", () => componentTable(report)],
    ["rows", "who is in which component, and how firmly", () => memberTable(report, axes.row)],
    ["columns", "what is in which component, and how firmly", () => memberTable(report, axes.column)],
    report.labels && ["labels", "each label and its best component", () => labelTable(report)],
    report.sets_title !== null
      && ["sets", "known sets that components are rich in", () => setTable(report)],
  ].filter(Boolean);
  const harmless = make("input", { type: "checkbox", checked: true, id: "harmless" });
  put(
    byId("tables-content"),
    make("ul.downloads", null, tables.map(([name, what, make_]) => {
      const button = make("button.controls", { type: "button", "data-table": name }, `${name}.csv`);
      button.addEventListener("click", async () => {
        button.disabled = true;
        save(await csvOf(await make_(), harmless.checked), `${name}.csv`);
        button.disabled = false;
      });
      return make("li", null, button, " ", make("span.note", null, what));
    })),
    make(
      "label.controls.note",
      { for: "harmless" },
      harmless,
      " for a spreadsheet: put a single quote before names that it would take for a formula "
        + "(those that begin with = + - @)",
    ),
    make("p.note", null, tablesNote(axes)),
  );
}

/** What the tables do not have. */
function tablesNote(axes) {
  const left = Object.values(axes).filter(({ complete }) => !complete);
  if (!left.length) return "The browser makes them from what is on this page; nothing is sent.";
  const counts = left.map(({ kind }) => `${kind}s`).join(" and ");
  return `This page holds some ${counts} only, and so do the tables; elbmf export writes all.`;
}

function componentTable({ components, labels, sets_title: setsTitle }) {
  const figures = COMPONENT_COLUMNS.map(({ key }) => key).filter(
    (key) => components.some((each) => each[key] !== null),
  );
  const best = [[labels, "best_label", "labels"], [setsTitle, "best_set", "sets"]]
    .filter(([there]) => there !== null);
  return {
    titles: [...figures, "doubts", ...best.map(([, title]) => title)],
    lines: components.map((each) => [
      ...figures.map((key) => each[key]),
      each.doubts.join("; "),
      ...best.map(([, , key]) => each[key][0]?.name ?? null),
    ]),
  };
}

/** Each line and the components that hold it; one that is in none has a line without. */
async function memberTable(report, axis) {
  const [{ starts, holders, support, margin, returns }, labelOf] = await Promise.all([
    axis.holding(),
    axis.kind === "row" ? labelsOfRows(report, axis) : () => null,
  ]);
  const labelled = axis.kind === "row" && report.labels !== null;
  const beside = [
    [support, "share", (i) => support[i] / Math.max(1, report.components[holders[i]][`${axis.other}s`])],
    [margin, "margin", (i) => margin[i]],
    [returns, "returns", (i) => returns[i]],
  ].filter(([there]) => there);
  function* lines() {
    for (let entry = 0; entry + 1 < starts.length; entry++) {
      const line = axis.lineOf(entry);
      const name = axis.named ? axis.nameOf(line) : line;
      const own = [name, ...(labelled ? [labelOf(line)] : [])];
      if (starts[entry] === starts[entry + 1]) yield [...own, null, ...beside.map(() => null)];
      for (let i = starts[entry]; i < starts[entry + 1]; i++) {
        yield [...own, holders[i], ...beside.map(([, , value]) => value(i))];
      }
    }
  }
  return {
    titles: [
      axis.kind,
      ...(labelled ? ["label"] : []),
      "component",
      ...beside.map(([, title]) => title),
    ],
    lines: lines(),
  };
}

function labelTable({ labels }) {
  const keys = [
    "component",
    "nmi",
    "overlap",
    "component_rows",
    "share_inside",
    "share_outside",
    "fold",
  ];
  return {
    titles: ["label", "rows", "best_component", ...keys.slice(1), "log10_adjusted_p"],
    lines: labels.classes.map(({ name, size, best }) => [
      name,
      size,
      ...keys.map((key) => best?.[key]),
      best?.log10_p,
    ]),
  };
}

function setTable({ components }) {
  return {
    titles: ["component", "set", "overlap", "set_size", "fold", "log10_adjusted_p", "in_both"],
    lines: components.flatMap(({ component, sets }) => sets.map((each) => [
      component,
      each.name,
      each.overlap,
      each.size,
      each.fold,
      each.log10_p,
      (each.members ?? []).join(";"),
    ])),
  };
}
