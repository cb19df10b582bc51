// Lists of rows or columns with bars of how well they fit, and how firmly they belong.

const PAGE_OF_MEMBERS = 50;
const FIRST_MEMBERS = 12;

/** What a margin says, in words. */
function marginText(margin) {
  if (margin === 0) return "the loss would be the same without it";
  return `without it, the loss would be ${short(Math.abs(margin))} ${margin > 0 ? "higher" : "lower"}`;
}

/** One line of such a list. The less often it returns, the fainter its name. */
function memberItem(axis, [line, fit, margin, returns], label) {
  const who = make(
    "span.who",
    null,
    axis.link(line, 80),
    label === null ? null : make("span.label", null, nameText(label, 40)),
  );
  if (isKnown(returns)) {
    who.classList.add("returning");
    who.style.setProperty("--returns", String(returns));
    who.title = spoken(`returns in ${percent(returns)} of the fits that found the component`);
  }
  return make(
    "li",
    null,
    who,
    isKnown(fit) ? [bar(fit), make("span.fit", null, percent(fit))] : null,
    isKnown(margin) ? make("span.margin", { title: marginText(margin) }, signed(margin)) : null,
  );
}

/** A list of some lines. */
function memberList(axis, members, labelOf = () => null) {
  return make("ol.members", null, members.map((each) => memberItem(axis, each, labelOf(each[0]))));
}

/**
 * All members of a component, a page at a time.
 * @param {Axis} axis
 * @param {Member[]} top the members known already, the firmest first
 * @param {number} total
 * @param {() => Promise<Member[]>} all
 */
function pagedMembers(axis, top, total, all, labelOf = () => null) {
  const list = memberList(axis, top.slice(0, FIRST_MEMBERS), labelOf);
  let shown = list.children.length;
  if (total <= shown) return [list];
  const more = make("button.more.controls", { type: "button" });
  const label = () => {
    const next = Math.min(PAGE_OF_MEMBERS, total - shown);
    put(more, `Show ${whole(next)} more of ${counted(total, axis.kind)}`);
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
