// Known labels of the rows against components.

const MOST_CELLS_ACROSS = 60;
const MOST_CLASSES = 60;
const COLUMNS_OF_CLASS = 6;
const HEAT = { cell: 20, names: 150, top: 22 };

function showLabels(report, axes) {
  const { labels } = report;
  byId("labels").hidden = !labels;
  byId("to-labels").hidden = !labels;
  if (!labels) return;
  put(
    byId("labels-text"),
    "How much components tell about “",
    nameText(labels.title, 80),
    "”: normalized mutual information (NMI), 1 where rows of a component are exactly those of a ",
    `label. On average the best component of a label reaches ${agreement(labels.mean_nmi)}.`,
    labels.unlabelled ? ` Without a label: ${counted(labels.unlabelled, "row")}, not counted.` : "",
  );
  put(byId("labels-content"), classTable(report, axes), heatMap(labels));
}

function classTable({ labels, components }, axes) {
  const greatest = Math.max(...labels.classes.map(({ nmi }) => nmi), 1e-9);
  const known = labels.classes.map((each) => {
    const best = components[each.component];
    const columns = (best?.top_columns ?? []).slice(0, COLUMNS_OF_CLASS).map(([line]) => line);
    return make(
      "tr",
      null,
      make("td", null, nameText(each.name, 60)),
      make("td", null, whole(each.size)),
      make("td", null, best ? componentLink(each.component) : UNKNOWN),
      make("td", null, agreement(each.nmi), bar(each.nmi / greatest)),
      make("td.names", null, make("div.clamp", null, axes.column.list(columns, 30))),
    );
  });
  const head = tableHead(["Label", "Rows", "Tells most", "NMI", "Its columns"]);
  head.querySelector("th:last-child").className = "names";
  const body = make("tbody", null, known.slice(0, MOST_CLASSES));
  const table = make("div.table-frame", null, make("table.small.classes", null, head, body));
  if (known.length <= MOST_CLASSES) return table;
  const more = make(
    "button.controls",
    { type: "button" },
    `Show all ${counted(known.length, "label")}`,
  );
  more.addEventListener("click", () => {
    body.append(...known.slice(MOST_CLASSES));
    more.remove();
  });
  return make("div", null, table, more);
}

/** A square for each component and label, the darker the more one tells about the other. */
function heatMap(labels) {
  const across = labels.order.slice(0, MOST_CELLS_ACROSS);
  const down = [...labels.classes.keys()]
    .sort((a, b) => place(a) - place(b))
    .slice(0, MOST_CLASSES);
  function place(label) {
    const at = labels.order.indexOf(labels.classes[label].component);
    return at < 0 ? labels.order.length : at;
  }
  const greatest = Math.max(...labels.nmi.map((row) => Math.max(...row)), 1e-9);
  const { cell, names, top } = HEAT;
  const [width, height] = [names + across.length * cell + 4, top + down.length * cell + 4];
  const cells = down.map((label, y) =>
    across.map((component, x) => {
      const nmi = labels.nmi[component][label];
      const square = draw(
        "rect",
        {
          class: "heat",
          x: names + x * cell,
          y: top + y * cell,
          width: cell - 1,
          height: cell - 1,
          "fill-opacity": (0.04 + 0.96 * (nmi / greatest)).toFixed(3),
        },
        draw(
          "title",
          null,
          `${visibleName(labels.classes[label].name)} · component ${component}: ${agreement(nmi)}`,
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
      left > 0 ? `; ${counted(left, "component")} further to the right not drawn` : "",
      hidden > 0 ? `; ${counted(hidden, "label")} not drawn` : "",
    ),
  );
}
