// Lists of rows or columns with bars of how well they fit.

const PAGE_OF_MEMBERS = 50;
const FIRST_MEMBERS = 12;

/** One line of such a list. */
function memberItem(axis, [line, fit], label) {
  return make(
    "li",
    null,
    make(
      "span.who",
      null,
      axis.link(line, 80),
      label === null ? null : make("span.label", null, nameText(label, 40)),
    ),
    fit === null || fit === undefined ? null : [bar(fit), make("span.fit", null, percent(fit))],
  );
}

/** A list of some lines. */
function memberList(axis, members, labelOf = () => null) {
  return make("ol.members", null, members.map((each) => memberItem(axis, each, labelOf(each[0]))));
}

/**
 * All members of a component, a page at a time.
 * @param {Axis} axis
 * @param {[number, number | null][]} top the members known already, best first
 * @param {number} total
 * @param {() => Promise<[number, number | null][]>} all
 */
function pagedMembers(axis, top, total, all, labelOf = () => null) {
  const list = memberList(axis, top.slice(0, FIRST_MEMBERS), labelOf);
  let shown = list.children.length;
  if (total <= shown) return [list];
  const more = make("button.more.controls", { type: "button" });
  const label = () => {
    const next = Math.min(PAGE_OF_MEMBERS, total - shown);
    more.textContent = `Show ${whole(next)} more of ${counted(total, axis.kind)}`;
  };
  const everyone = once(async () => {
    const known = new Set(top.map(([line]) => line));
    return [...top, ...(await all()).filter(([line]) => !known.has(line))];
  });
  more.addEventListener("click", async () => {
    const members = await everyone();
    const page = members.slice(shown, shown + PAGE_OF_MEMBERS);
    const first = shown;
    list.append(...page.map((each) => memberItem(axis, each, labelOf(each[0]))));
    shown += page.length;
    list.children[first]?.querySelector("a").focus({ preventScroll: true });
    if (shown < members.length) {
      label();
    } else if (members.length < total) {
      more.replaceWith(make(
        "p.note",
        null,
        `${counted(total - members.length, axis.kind)} more, left out to keep this report small`,
      ));
    } else {
      more.remove();
    }
  });
  label();
  return [list, more];
}
