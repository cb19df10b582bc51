// Known labels of the rows against components.

const MOST_CELLS_ACROSS = 60;
const MOST_CLASSES = 60;
const COLUMNS_OF_CLASS = 6;
const CLASS_COLUMNS = [
  ["Label", ""],
  ["Rows", "", "rows with the label"],
  ["Best component", "", "of those in which the label is more frequent than elsewhere, the one that "
    + "tells most about it"],
  ["In it", "", "rows of the component that have the label"],
  ["Inside", "share-inside", "share of the component's rows that have the label"],
  ["Outside", "share-outside", "share of all other rows that have the label"],
  ["Fold", "fold", "how many times as frequent the label is in it as among all rows"],
  ["NMI", "", "how much the component tells about the label, from 0 (nothing) to 1 (all)"],
  ["Its columns", "names"],
];
const HEAT = { cell: 20, names: 150, top: 22 };

function showLabels(report, axes) {
  const { labels } = report;
  byId("labels").hidden = !labels;
  byId("to-labels").hidden = !labels;
  if (!labels) return;
  put(
    byId("labels-text"),
    "Where rows with a label “",
    nameText(labels.title, 80),
    "” are more frequent than elsewhere. Normalized mutual information (NMI) measures how much a "
      + "component tells about a label: 1 where its rows are exactly those of the label, 0 where it "
      + `tells nothing. On average the best component of a label reaches ${agreement(labels.mean_nmi)}.`,
    labels.unlabelled ? ` Without a label: ${counted(labels.unlabelled, "row")}, not counted.` : "",
  );
  put(byId("labels-content"), classTable(report, axes), heatMap(labels));
}

function classTable({ labels, components }, axes) {
  const greatest = Math.max(...labels.classes.map(({ best }) => best?.nmi ?? 0), 1e-9);
  const lineOf = ({ name, size, best, absence }) => {
    const columns = best === null
      ? []
      : components[best.component].top_columns.slice(0, COLUMNS_OF_CLASS).map(([line]) => line);
    const line = make(
      absence ? "tr.goes-on" : "tr",
      null,
      make("td", null, nameText(name, 60)),
      make("td", null, whole(size)),
      make("td", null, best ? componentLink(best.component, String(best.component)) : "none"),
      best
        ? [
          make("td", null, `${whole(best.overlap)} of ${whole(best.component_rows)}`),
          make("td.share-inside", null, percent(best.share_inside)),
          make("td.share-outside", null, percent(best.share_outside)),
          make("td.fold", null, short(best.fold)),
          make("td", null, agreement(best.nmi), bar(best.nmi / greatest)),
        ]
        : ["", ".share-inside", ".share-outside", ".fold", ""].map(
          (kind) => make(`td${kind}`, null, UNKNOWN),
        ),
      make("td.names", null, make("div.clamp", null, axes.column.list(columns, 30))),
    );
    return absence ? [line, absenceNote(absence, size)] : [line];
  };
  const head = tableHead(CLASS_COLUMNS.map(([title]) => title));
  CLASS_COLUMNS.forEach(([, kind, help], i) => {
    head.rows[0].cells[i].className = kind;
    if (help) head.rows[0].cells[i].title = spoken(help);
  });
  const body = make("tbody", null, labels.classes.slice(0, MOST_CLASSES).map(lineOf));
  return make(
    "div",
    null,
    make("div.table-frame.scroll", null, make("table.small.classes", null, head, body)),
    moreRows(body, labels.classes.slice(MOST_CLASSES), lineOf, "label"),
  );
}

/** That a component has few rows of a label can tell more than any that has many. */
function absenceNote({ component, overlap, nmi }, size) {
  return make(
    "tr.absence",
    null,
    make(
      "td.note",
      { colspan: CLASS_COLUMNS.length },
      "What tells most about it is where it is rare: ",
      componentLink(component),
      ` has ${whole(overlap)} of its ${counted(size, "row")} (NMI ${agreement(nmi)}).`,
    ),
  );
}

/** A square for each component and label, the darker the more one tells about the other. */
function heatMap(labels) {
  const across = labels.order.slice(0, MOST_CELLS_ACROSS);
  const down = [...labels.classes.keys()]
    .sort((a, b) => place(a) - place(b))
    .slice(0, MOST_CLASSES);
  function place(label) {
    const at = labels.order.indexOf(labels.classes[label].best?.component);
    return at < 0 ? labels.order.length : at;
  }
  const greatest = Math.max(...labels.nmi.map((row) => Math.max(...row.map(Math.abs))), 1e-9);
  const { cell, names, top } = HEAT;
  const [width, height] = [names + across.length * cell + 4, top + down.length * cell + 4];
  const cells = down.map((label, y) =>
    across.map((component, x) => {
      const nmi = labels.nmi[component][label];
      const square = draw(
        "rect",
        {
          class: nmi < 0 ? "heat rarer" : "heat",
          x: names + x * cell,
          y: top + y * cell,
          width: cell - 1,
          height: cell - 1,
          "fill-opacity": (0.04 + 0.96 * (Math.abs(nmi) / greatest)).toFixed(3),
        },
        draw(
          "title",
          null,
          `${visibleName(labels.classes[label].name)} · ${spoken(`component ${component}`)}: `
            + agreement(Math.abs(nmi)) + (nmi < 0 ? ", rarer than elsewhere" : ""),
        ),
      );
      square.addEventListener("click", () => go("component", component));
      return square;
    }),
  );
  const left = labels.order.length - across.length;
  const hidden = labels.classes.length - down.length;
  const map = draw(
    "svg",
    {
      class: "heat-map",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": "NMI of labels and components; the table beside tells the greatest",
    },
    across.map((component, x) => draw(
      "text",
      { class: "tick", x: names + x * cell + cell / 2 - 0.5, y: top - 7, "text-anchor": "middle" },
      String(component),
    )),
    down.map((label, y) => draw(
      "text",
      {
        class: "tick",
        x: names - 6,
        y: top + y * cell + cell / 2 + 3.5,
        "text-anchor": "end",
        direction: "ltr",
      },
      visibleName(labels.classes[label].name, 22),
    )),
    cells,
  );
  return make(
    "div.heat-frame",
    null,
    make(
      "div.scroll",
      { tabindex: "0", role: "group", "aria-label": "Heat map of labels and components" },
      map,
    ),
    make(
      "p.note",
      null,
      `NMI from 0 (pale) to ${agreement(greatest)} (full colour)`,
      labels.nmi.some((row) => row.some((nmi) => nmi < 0))
        ? "; orange where the label is rarer than elsewhere"
        : "",
      left > 0 ? `; ${counted(left, "component")} further to the right not drawn` : "",
      hidden > 0 ? `; ${counted(hidden, "label")} not drawn` : "",
    ),
  );
}
