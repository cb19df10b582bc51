// Rows and columns: names, places, and which components hold each. Unpacked when first wanted.

const NO_COMPONENT = 65535;

/** The rows or the columns. Lines are told by their position in the matrix. */
class Axis {
  /**
   * @param {object} data the axis of the document
   * @param {"row" | "column"} kind
   * @param {[number, string][]} firstNames names that are shown before all are unpacked
   */
  constructor(data, kind, firstNames) {
    this.kind = kind;
    this.firstNames = new Map(firstNames);
    this.other = kind === "row" ? "column" : "row";
    this.count = data.count;
    this.named = data.names !== null;
    this.complete = data.kept === null;
    this.namesNow = null;
    this.keptNow = null;
    this.names = once(async () => {
      [this.keptNow, this.namesNow] = await Promise.all([unpack(data.kept), unpack(data.names)]);
      return this.namesNow;
    });
    this.places = once(() => unpack(data.place));
    this.ones = once(() => unpack(data.ones));
    this.nearest = once(async () => {
      const [component, support] = await Promise.all([
        unpack(data.nearest),
        unpack(data.nearest_support),
      ]);
      return component && { component, support };
    });
    this.holding = once(async () => {
      const [held, holders, support, margin, returns] = await Promise.all([
        unpack(data.held),
        unpack(data.holders),
        unpack(data.support),
        unpack(data.margin),
        unpack(data.returns),
        this.names(),
      ]);
      const starts = new Uint32Array(held.length + 1);
      for (let i = 0; i < held.length; i++) starts[i + 1] = starts[i] + held[i];
      return { starts, holders, support, margin, returns };
    });
    /** Which entry is shown in which place; -1 for lines that the report has left out. */
    this.entriesAtPlaces = once(async () => {
      const places = await this.places();
      await this.names();
      const entries = new Int32Array(this.count).fill(-1);
      for (let i = 0; i < places.length; i++) entries[places[i]] = i;
      return entries;
    });
  }

  /** Lines in the report. */
  get size() {
    return this.keptNow ? this.keptNow.length : this.count;
  }

  /** The position of an entry of the arrays. */
  lineOf(entry) {
    return this.keptNow ? this.keptNow[entry] : entry;
  }

  /** The entry of a line, -1 if it was left out. Names must have been unpacked. */
  entryOf(line) {
    if (!this.keptNow) return line >= 0 && line < this.count ? line : -1;
    let low = 0;
    let high = this.keptNow.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.keptNow[middle] < line) low = middle + 1;
      else high = middle;
    }
    return this.keptNow[low] === line ? low : -1;
  }

  /** The name of a line; where there is none, its position. All but few must be unpacked first. */
  nameOf(line) {
    const entry = this.namesNow ? this.entryOf(line) : -1;
    return (entry < 0 ? this.firstNames.get(line) : this.namesNow[entry])
      ?? spoken(`${this.kind} ${line}`);
  }

  /** A link to what is known of a line. */
  link(line, longest) {
    const name = this.nameOf(line);
    const link = make("a", { href: `#${this.kind}-${line}` }, nameText(name, longest));
    link.title = visibleName(name, 400);
    return link;
  }

  /** Names of lines, with commas between them. */
  list(lines, longest) {
    return listed(lines.map((line) => nameText(this.nameOf(line), longest)));
  }

  /** Components of a line, its ones there and its margin (null without data). */
  async componentsOf(line) {
    const { starts, holders, support, margin } = await this.holding();
    const entry = this.entryOf(line);
    const found = [];
    for (let i = starts[entry]; i < starts[entry + 1]; i++) {
      found.push({
        component: holders[i],
        support: support && support[i],
        margin: margin && margin[i],
      });
    }
    return found;
  }

  /**
   * All members of a component in the report: line, share, margin, how often it returns. Those
   * come first that belong most firmly, of equals those that fit best, then those with fewest ones
   * elsewhere (as elbmf.analysis.best_first has them).
   * @param {number} component
   * @param {number} partners lines of the component on the other side
   */
  async membersOf(component, partners) {
    const [{ starts, holders, support, margin, returns }, ones] = await Promise.all([
      this.holding(),
      this.ones(),
    ]);
    const inAll = (entry) => (ones ? ones[entry] : starts[entry + 1] - starts[entry]);
    const members = [];
    let entry = 0;
    for (let i = 0; i < holders.length; i++) {
      if (holders[i] !== component) continue;
      // Holders follow each other line by line, so the line only ever moves on.
      while (starts[entry + 1] <= i) entry++;
      members.push({ entry, fit: support?.[i], margin: margin?.[i], returns: returns?.[i] });
    }
    members.sort((a, b) =>
      b.margin - a.margin
      || b.fit - a.fit
      || inAll(a.entry) - inAll(b.entry)
      || a.entry - b.entry);
    return members.map(({ entry, fit, margin: its, returns: often }) => [
      this.lineOf(entry),
      support && fit / Math.max(1, partners),
      its,
      often,
    ]);
  }
}
