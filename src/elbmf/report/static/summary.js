// The first screen: what was factorized, how well, why so many components, and what to know first.

const MEASURES = [
  ["recall", "Recall", percent, "of the ones are covered"],
  ["precision", "Precision", percent, "of what is covered are ones"],
  ["relative_loss", "Relative loss", short, "wrong cells per one; 0 is perfect"],
  ["similarity", "Similarity", percent, "of all cells are right"],
  ["recall_star", "Recall*", percent, "of the ones without noise are covered"],
];

const MOST_IN_SENTENCE = 6;

function figure(term, value, note) {
  return make("div", null, make("dt", null, term), make("dd", null, make("b", null, value), note));
}

function showSummary(report, axes) {
  const { summary } = report;
  put(byId("title"), nameText(report.title));
  document.title = visibleName(report.title, 80);
  put(
    byId("sentences"),
    summary.sentences.map((each) => [make("p", null, unbroken(each)), " "]),
    greatestOf(report.components, axes.column),
  );
  put(byId("warnings"), warnings(summary.warnings));
  const measures = summary.measures ?? {};
  put(
    byId("figures"),
    MEASURES.filter(
      ([key]) => typeof measures[key] === "number",
    ).map(([key, title, format, note]) =>
      figure(title, format(measures[key]), note),
    ),
    figure("Size", `${whole(summary.rows)} × ${whole(summary.columns)}`, "rows and columns"),
    figure("Components", whole(summary.used), usedNote(summary)),
    summary.ones === null
      ? null
      : figure(
        "Ones",
        whole(summary.ones),
        `${percent(summary.density)} of the cells${missingNote(summary)}`,
      ),
    summary.missed === null
      ? null
      : figure(
        "Wrong cells",
        whole(summary.missed + summary.extra),
        `${whole(summary.missed)} missed, ${whole(summary.extra)} extra`,
      ),
  );
  put(byId("rank"), rankOf(summary));
}

/** The component that covers most, in words: what a component is, by an example. */
function greatestOf(components, axis) {
  const size = ({ covered, rows, columns }) => covered ?? rows * columns;
  const [first] = [...components].sort((a, b) => size(b) - size(a));
  if (!first || !size(first)) return null;
  const best = first.top_columns.slice(0, MOST_IN_SENTENCE).map(([line]) => line);
  const more = first.columns - best.length;
  return make(
    "p",
    null,
    make("a", { href: `#component-${first.component}` }, `Component ${first.component}`),
    `, which covers most: ${counted(first.rows, "row")} with `,
    axis.list(best, 30),
    more > 0 ? ` and ${counted(more, "other column")}.` : ".",
  );
}

function usedNote({ used, components, method, seconds }) {
  const inTime = seconds === null ? "" : ` in ${short(seconds)} s`;
  const by = method === "unknown" ? "by a method not noted" : `by ${method}${inTime}`;
  return used === components ? by : `of ${whole(components)} are used; ${by}`;
}

function missingNote({ missing }) {
  return missing ? `, ${whole(missing)} unknown` : "";
}

function warnings(texts) {
  if (!texts.length) return [];
  const items = texts.map((each) => make("p.warning", { role: "note" }, each));
  if (items.length <= 2) return items;
  const rest = make(
    "details",
    null,
    make("summary", null, counted(items.length - 2, "more warning")),
    items.slice(2),
  );
  return [...items.slice(0, 2), rest];
}

function rankOf({ rank, components }) {
  const text = make(
    "div",
    null,
    make("h3", null, "Number of components"),
    make("p", null, rank.text),
  );
  if (!rank.curve) return [text];
  const { ranks, criterion, relative_loss: losses, stability, title, unit } = rank.curve;
  const heading = unit ? `${title} (${unit})` : title;
  const charts = [
    [heading, criterion],
    ["relative loss", losses],
    ...(stability ? [["stability", stability]] : []),
  ].map(([name, y]) =>
    figureOf(
      name,
      lineChart({ x: ranks, y, title: name, xTitle: "components", marked: components, dots: true }),
    ),
  );
  return [text, make("div.curves", null, charts)];
}
