// Known sets of columns, such as pathways: for each component those that it is rich in.

const SETS_OF_COMPONENT = 3;
const MOST_WITH_SETS = 60;

function showSets({ components, sets_title: title }) {
  const rich = components.filter(({ sets }) => sets.length);
  byId("sets").hidden = title === null;
  byId("to-sets").hidden = title === null;
  if (title === null) return;
  const poor = components.length - rich.length;
  put(
    byId("sets-text"),
    "What columns of components have in common, by ",
    nameText(title, 80),
    ": sets of which a component has more columns than a random draw would, with an adjusted p of at "
      + "most 0.05. ",
    rich.length ? "" : "There is none for any component.",
    rich.length && poor ? `For ${counted(poor, "component")} there is none.` : "",
  );
  if (!rich.length) return;
  const head = tableHead(["No.", "Set", "In it", "Fold", "p"]);
  ["", "names", "", "fold", ""].forEach((kind, i) => {
    head.rows[0].cells[i].className = kind;
  });
  const body = make("tbody", null, rich.slice(0, MOST_WITH_SETS).map(setsOfComponent));
  put(
    byId("sets-content"),
    make(
      "table.small.classes",
      null,
      head,
      body,
    ),
    moreRows(body, rich.slice(MOST_WITH_SETS), setsOfComponent, "component"),
  );
}

function setsOfComponent({ component, sets }) {
  const shown = sets.slice(0, SETS_OF_COMPONENT);
  return shown.map((each, i) => make(
    i + 1 < shown.length ? "tr.goes-on" : "tr",
    null,
    make("td", null, i ? null : componentLink(component, String(component))),
    make("td.names", null, setName(each)),
    make("td", null, `${whole(each.overlap)} of ${whole(each.size)}`),
    make("td.fold", null, short(each.fold)),
    make("td", null, probability(each.log10_p)),
  ));
}

/** The name of a set; what of it is in the component shows when it is pointed at. */
function setName({ name, members }) {
  const node = nameText(name, 80);
  if (members) node.title = visibleName(members.join(", "), 300);
  return node;
}

/** A button that adds the rest of a long table; null where there is none. */
function moreRows(body, rest, rowOf, thing) {
  if (!rest.length) return null;
  const more = make(
    "button.controls",
    { type: "button" },
    `Show ${counted(rest.length, `more ${thing}`)}`,
  );
  more.addEventListener("click", () => {
    body.append(...rest.flatMap(rowOf));
    more.remove();
  });
  return more;
}
