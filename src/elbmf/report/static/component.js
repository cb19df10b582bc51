// The detail of a component: members, where it errs, what it shares with others.

const MOST_OVERLAPS = 12;
const FIRST_ENRICHED = 5;

// From these on, a component is worth some trust.
const RECURS = 0.75;
const SIGNIFICANT = 0.05;

/** A component in words. */
function componentSentence({ component, rows, columns, precision, recall, covered, alone }) {
  if (!rows || !columns) return `Component ${component} is empty: no row or no column is in it.`;
  const shared = `${rows === 1 ? "shares" : "share"} ${counted(columns, "column")}`;
  const parts = [`Component ${component}: ${counted(rows, "row")} ${shared}`];
  if (precision !== null) parts.push(`; ${percent(precision)} of these cells are ones`);
  if (recall !== null) parts.push(`. It covers ${percent(recall)} of all ones`);
  if (covered && alone !== null) parts.push(aloneText(alone / covered));
  return `${parts.join("")}.`;
}

/** Of a stream, rows are not kept. */
function columnsSentence({ component, columns }) {
  return `Component ${component} has ${counted(columns, "column")}.`;
}

function aloneText(share) {
  if (share === 1) return ", which are in no other component";
  if (share === 0) return ", all of which are in others, too";
  return `; ${percent(share)} of these are in no other component`;
}

function savingText(bits) {
  const bit = make(
    "abbr",
    { title: "zeros and ones of a file that describes the data as shortly as components allow" },
    "bits",
  );
  return bits >= 0
    ? [`It makes the description of the data ${whole(bits)} `, bit, " shorter: it explains more than it costs."]
    : [`Without it the description of the data would be ${whole(-bits)} `, bit, " shorter: it may be chance."];
}

function block(title, ...content) {
  const inner = content.flat(Infinity).filter((each) => each !== null && each !== undefined);
  return inner.length ? make("section.block", null, make("h3", null, title), inner) : null;
}

/** Two lists beside each other, for columns and rows; an empty one is left out. */
function pair(columns, rows) {
  const sides = [["Columns", columns], ["Rows", rows]].filter(([, content]) => content?.length);
  return sides.length
    ? make(
      "div.pair",
      null,
      sides.map(([title, content]) => make("div", null, make("h4", null, title), content)),
    )
    : null;
}

/**
 * Everything about a component.
 * @returns {Promise<{title: string, content: Element[]}>}
 */
async function componentDetail(report, axes, number, showInMatrix) {
  const each = report.components[number];
  const title = `Component ${number}`;
  if (!each) return { title, content: [make("p", null, "There is no such component.")] };
  const [labelOf] = await Promise.all([
    labelsOfRows(report, axes.row),
    axes.row.names(),
    axes.column.names(),
  ]);
  const lines = (axis, members) => {
    const list = memberList(axis, members, axis.kind === "row" ? labelOf : undefined);
    return members.length ? [list] : null;
  };
  const { row, column } = axes;
  return {
    title,
    content: [
      make("p.lead", null, unbroken(row.count ? componentSentence(each) : columnsSentence(each))),
      each.bits_saved === null ? null : make("p", null, savingText(each.bits_saved)),
      badges(each),
      each.doubts.length
        ? make("p.doubt", null, `It may be chance: ${each.doubts.join(", ")}.`)
        : null,
      enrichedBlock("Known sets", "set", report.sets_title, each.sets),
      enrichedBlock("Labels", "label", report.labels?.title, each.labels),
      each.rows && each.columns ? make(
        "button.controls",
        { type: "button", onclick: showInMatrix },
        "Show in the matrix",
      ) : null,
      block("Members", pair(
        each.columns ? pagedMembers(
          column,
          each.top_columns,
          each.columns,
          () => column.membersOf(number, each.rows),
        ) : null,
        each.rows ? pagedMembers(
          row,
          each.top_rows,
          each.rows,
          () => row.membersOf(number, each.columns),
          labelOf,
        ) : null,
      ), membersNote(each)),
      await blockPicture(each),
      block("Members that hardly belong", pair(
        each.columns > FIRST_MEMBERS ? lines(column, each.weak_columns) : null,
        each.rows > FIRST_MEMBERS ? lines(row, each.weak_rows) : null,
      )),
      block(
        "Outside, nearest to it",
        pair(lines(column, each.near_columns), lines(row, each.near_rows)),
      ),
      overlapsOf(each),
    ],
  };
}

/** Whether the component returns, and differs from chance, where that is noted. */
function badges({ recurrence, found_in: foundIn, p_value: p }) {
  const badge = (good, text, title) => make(good ? "span.badge.good" : "span.badge", { title }, text);
  const shown = [
    isKnown(recurrence) ? badge(
      recurrence >= RECURS,
      `recurs ${percent(recurrence)}`,
      `how alike its matches in fits of resampled data are, on average; ${percent(foundIn)} of the `
        + "fits have one that is at least half the same",
    ) : null,
    isKnown(p) ? badge(
      p <= SIGNIFICANT,
      `p ${short(p)}`,
      "how likely random data with the same sums has a component that is as good",
    ) : null,
  ];
  return shown.some((each) => each) ? make("p.badges", null, shown) : null;
}

/** What the figures beside members are. */
function membersNote({ top_columns: columns, top_rows: rows }) {
  const members = [...columns, ...rows];
  const parts = [];
  if (members.some(([, , margin]) => isKnown(margin))) {
    parts.push(
      "The last figure is the margin: by how much the loss would go up without the member, all "
        + "else adapted. The firmest come first.",
    );
  }
  if (members.some(([, , , returns]) => isKnown(returns))) {
    parts.push("The fainter a name, the less often it returns in fits of resampled data.");
  }
  return parts.length ? make("p.note", null, parts.join(" ")) : null;
}

/** The cells of a component alone, the firmest members first. */
async function blockPicture(each) {
  if (!each.block || !each.block.extra) return null;
  const grid = await unpackGrid(each.block);
  const described = `Cells of component ${each.component}: ${percent(each.precision)} are ones`;
  const frame = make("div.block-picture", { role: "img", "aria-label": described });
  const paintIt = () => put(frame, paint(grid, "errors").image);
  paintIt();
  frame.repaint = paintIt;
  return block(
    "Where it errs",
    frame,
    make(
      "div.legend",
      null,
      swatch("hit", "ones"),
      swatch("extra", "zeros inside"),
      make("span.note", null, "firmest rows on top, firmest columns on the left"),
    ),
  );
}

function overlapsOf(each) {
  if (!each.overlaps.length) return null;
  const cells = each.rows * each.columns || 1;
  const overlaps = [...each.overlaps].sort(
    (a, b) => b.cells - a.cells || b.rows + b.columns - a.rows - a.columns,
  );
  const rest = overlaps.length - MOST_OVERLAPS;
  return block(
    "Overlap with others",
    make(
      "table.small",
      null,
      tableHead(["Component", "Rows", "Columns", "Of its cells"]),
      make("tbody", null, overlaps.slice(0, MOST_OVERLAPS).map((other) =>
        make(
          "tr",
          null,
          make(
            "td",
            null,
            componentLink(other.component),
          ),
          make("td", null, whole(other.rows)),
          make("td", null, whole(other.columns)),
          make("td", null, percent(other.cells / cells), bar(other.cells / cells)),
        ),
      )),
    ),
    rest > 0 ? make("p.note", null, `and ${counted(rest, "other")} with less in common`) : null,
  );
}

/** A probability told by its logarithm. */
function probability(log10) {
  if (log10 > -3) return short(10 ** log10);
  return powerOfTen(Math.round(log10));
}

function enrichedBlock(kind, noun, name, enriched) {
  if (!enriched.length) return null;
  const title = name ? [`${kind}: `, nameText(name, 80)] : kind;
  const withNmi = enriched.some(({ nmi }) => nmi !== undefined);
  const lineOf = (each) => [
    make(
      "tr",
      null,
      make("td", null, setName(each)),
      make("td", null, `${whole(each.overlap)} of ${whole(each.size)}`),
      make("td", null, short(each.fold)),
      make("td", null, probability(each.log10_p)),
      withNmi ? make("td", null, agreement(each.nmi ?? 0)) : null,
    ),
  ];
  const body = make("tbody", null, enriched.slice(0, FIRST_ENRICHED).map(lineOf));
  return block(
    title,
    make(
      "table.small",
      null,
      tableHead(["Name", "In it", "Fold", "p", ...(withNmi ? ["NMI"] : [])]),
      body,
    ),
    moreRows(body, enriched.slice(FIRST_ENRICHED), lineOf, noun),
    make(
      "p.note",
      null,
      "Fold: how many times as many as a random draw would have. p: how likely a random draw has so "
        + "many, adjusted for the number of tests.",
      withNmi
        ? " NMI: how much the component tells about the label, from 0 (nothing) to 1 (all)."
        : null,
    ),
  );
}

/** Make a function that tells the label of a row, null if it has none. */
async function labelsOfRows(report, rows) {
  if (!report.labels || !report.label_of_rows) return () => null;
  const [labels] = await Promise.all([unpackedLabels(report), rows.names()]);
  return (line) => {
    const label = labels[rows.entryOf(line)];
    return report.labels.classes[label]?.name ?? null;
  };
}

const unpackedLabels = (() => {
  let labels = null;
  return (report) => (labels ??= unpack(report.label_of_rows));
})();
