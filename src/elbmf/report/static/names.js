// Finding names: one long text of all of them, which the browser searches faster than a list.

const SLICE = 20000;

/** The number in a text such as "17" or "row 17", also in the words of the field; null for others. */
function numberIn(text, kind) {
  const [, word, digits] = /^(.*?)\s*(\d{1,10})$/.exec(text.trim()) ?? [];
  if (digits === undefined) return null;
  return ["", kind, spoken(kind).toLowerCase()].includes(word.toLowerCase()) ? Number(digits) : null;
}

function folded(name) {
  return String(name).toLowerCase().replace(/[\n\r]/g, " ");
}

/** The names of an axis, made ready for search in slices between which the page answers. */
class NameIndex {
  constructor(axis) {
    this.axis = axis;
    this.ready = once(() => this.build());
  }

  async build() {
    const names = (await this.axis.names()) ?? [];
    const slices = [];
    const starts = new Uint32Array(names.length + 1);
    let at = 1;
    for (let low = 0; low < names.length; low += SLICE) {
      const slice = names.slice(low, low + SLICE).map(folded);
      slice.forEach((name, i) => {
        starts[low + i] = at;
        at += name.length + 1;
      });
      slices.push(slice.join("\n"));
      await breathe();
    }
    starts[names.length] = at;
    this.starts = starts;
    this.text = `\n${slices.join("\n")}\n`;
  }

  entryAt(position) {
    let low = 0;
    let high = this.starts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= position) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Entries whose name contains a text, in their order. */
  *containing(query) {
    const wanted = folded(query);
    let at = wanted ? this.text.indexOf(wanted, 1) : -1;
    while (at >= 0) {
      const entry = this.entryAt(at);
      if (entry >= this.starts.length - 1) return;
      yield { entry, at: at - this.starts[entry] };
      at = this.text.indexOf(wanted, this.starts[entry + 1]);
    }
  }

  /**
   * The best matches: names that are the text, begin with it, contain it.
   * @returns {{entries: number[], total: number}}
   */
  best(query, most) {
    const wanted = folded(query).length;
    const kinds = [[], [], []];
    let total = 0;
    for (const { entry, at } of this.containing(query)) {
      total++;
      const length = this.starts[entry + 1] - 1 - this.starts[entry];
      const kind = kinds[at > 0 ? 2 : length === wanted ? 0 : 1];
      if (kind.length < most) kind.push(entry);
    }
    return { entries: kinds.flat().slice(0, most), total };
  }
}
