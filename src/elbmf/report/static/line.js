// The detail of a row or column: which components hold it, and why.

/** Everything about a line. */
async function lineDetail(report, axes, kind, line, showInMatrix) {
  const axis = axes[kind];
  await axis.holding();
  const entry = axis.entryOf(line);
  if (entry < 0) {
    const leftOut = `This ${kind} was left out to keep this report small.`;
    const why = line < axis.count ? leftOut : `There is no such ${kind}.`;
    return { title: `${kind} ${line}`, content: [make("p", null, why)] };
  }
  const [ones, held, nearest, labelOf] = await Promise.all([
    axis.ones(),
    axis.componentsOf(line),
    axis.nearest(),
    kind === "row" ? labelsOfRows(report, axis) : () => null,
  ]);
  const label = labelOf(line);
  const across = kind === "row" ? "columns" : "rows";
  const facts = [
    `${kind === "row" ? "Row" : "Column"} ${whole(line)} of ${whole(axis.count)}, counted from 0`,
    ones ? `${counted(ones[entry], "one")}` : null,
  ].filter(Boolean);
  const inMatrix = byId("matrix").hidden ? null : make(
    "button.controls",
    { type: "button", onclick: showInMatrix },
    "Show in the matrix",
  );
  return {
    title: nameText(axis.nameOf(line), 200),
    content: [
      make(
        "p.note",
        null,
        facts.join("; "),
        label === null ? null : ["; label ", nameText(label, 80)],
      ),
      held.length
        ? block(
          `In ${counted(held.length, "component")}`,
          make(
            "ul.reasons",
            null,
            held.map((each) => reason(report, each, across)),
          ),
        )
        : block("In no component", outsider(report, nearest, entry, across)),
      inMatrix,
    ],
  };
}

/** Why a line is in a component: how much of it the line has, and how firmly it belongs. */
function reason(report, { component, support, margin }, across) {
  const of = report.components[component][across];
  const link = componentLink(component);
  if (support === null) {
    // Of a stream, rows are not kept.
    const size = of ? `, which has ${counted(of, across.slice(0, -1))}` : "";
    return make("li", null, make("span", null, "a member of ", link, size));
  }
  const share = of ? support / of : 0;
  return make(
    "li",
    null,
    make("span", null, `${supportText(support, of, across)} of `, link),
    bar(share),
    make("span.fit", null, percent(share)),
    isKnown(margin) ? make("span.margin", { title: marginText(margin) }, signed(margin)) : null,
  );
}

/** "has 3 of the 4 rows"; "has the only row". */
function supportText(support, of, across) {
  if (of !== 1) return `has ${whole(support)} of the ${whole(of)} ${across}`;
  return `${support ? "has" : "lacks"} the only ${across.slice(0, -1)}`;
}

function outsider(report, nearest, entry, across) {
  const component = nearest ? nearest.component[entry] : NO_COMPONENT;
  if (component === NO_COMPONENT) {
    return make(
      "p",
      null,
      nearest
        ? "It has no ones in any component."
        : "Without the data it is not known which it would fit.",
    );
  }
  return [
    make("p", null, "It would fit best into:"),
    make("ul.reasons", null, reason(report, { component, support: nearest.support[entry] }, across)),
  ];
}
