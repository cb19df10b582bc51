// Search for a row, a column or a component from anywhere on the page.

const MOST_RESULTS = 40;

function sizeOf({ rows, columns }) {
  return `${counted(rows, "row")} × ${counted(columns, "column")}`;
}

class Search {
  constructor(report, axes, indexes) {
    this.report = report;
    this.axes = axes;
    this.indexes = indexes;
    this.input = byId("search-input");
    this.list = byId("search-results");
    this.popup = byId("search-popup");
    this.note = byId("search-note");
    this.active = -1;
    this.input.addEventListener("input", () => this.run());
    this.input.addEventListener("focus", () => this.input.value && this.run());
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose(option);
    });
    document.addEventListener("pointerdown", (event) => {
      if (!byId("search").contains(event.target)) this.close();
    });
    byId("search").addEventListener("focusout", (event) => {
      if (!byId("search").contains(event.relatedTarget)) this.close();
    });
  }

  get options() {
    return [...this.list.children];
  }

  async run() {
    const text = this.input.value.trim();
    this.wanted = text;
    if (!text) {
      this.close();
      return;
    }
    this.openPopup();
    this.note.textContent = "Searching …";
    const kinds = ["row", "column"];
    await Promise.all(kinds.map((kind) => this.indexes[kind].ready()));
    if (this.wanted !== text) return;
    const found = kinds.map((kind) => this.find(kind, text));
    const components = this.components(text);
    const room = found.map(({ entries }) => entries.length);
    // Each kind may use the room that the other leaves.
    const half = MOST_RESULTS / 2;
    const shares = [Math.max(half, MOST_RESULTS - room[1]), Math.max(half, MOST_RESULTS - room[0])];
    put(
      this.list,
      components.map((component) => this.option(
        "component",
        component,
        [`component ${component}`],
        sizeOf(this.report.components[component]),
      )),
      kinds.map((kind, side) => found[side].entries.slice(0, shares[side]).map(
        (entry) => this.lineOption(kind, entry),
      )),
    );
    this.options.forEach((option, i) => {
      option.id = `search-option-${i}`;
    });
    const total = found.reduce((sum, each) => sum + each.total, components.length);
    const shown = this.options.length;
    const limit = total > shown ? `, ${whole(shown)} shown` : "";
    put(this.note, total ? `${whole(total)} found${limit}` : this.nothing());
    this.activate(shown ? 0 : -1);
    await this.tellComponents(text);
  }

  find(kind, text) {
    const axis = this.axes[kind];
    if (axis.named) return this.indexes[kind].best(text, MOST_RESULTS);
    const entries = numbered(axis, text).map(({ entry }) => entry);
    return { entries, total: entries.length };
  }

  nothing() {
    const left = ["row", "column"].filter((kind) => !this.axes[kind].complete);
    if (!left.length) return "Nothing found";
    const kept = left.map((kind) => counted(this.axes[kind].size, kind)).join(" and ");
    return `Nothing found among the ${kept} that this report keeps`;
  }

  components(text) {
    const number = numberIn(text.replace(/^#/, ""), "component");
    return number !== null && number < this.report.components.length ? [number] : [];
  }

  option(kind, number, content, note) {
    return make(
      "li",
      { role: "option", "data-kind": kind, "data-number": number, "aria-selected": "false" },
      make("span.kind", null, kind),
      make("span.what", null, content),
      make("span.note", null, note),
    );
  }

  lineOption(kind, entry) {
    const line = this.axes[kind].lineOf(entry);
    return this.option(kind, line, [nameText(this.axes[kind].nameOf(line), 80)], "");
  }

  /** Say beside each line which components hold it. */
  async tellComponents(text) {
    for (const option of this.options) {
      const { kind, number } = option.dataset;
      if (kind === "component") continue;
      const held = await this.axes[kind].componentsOf(Number(number));
      if (this.wanted !== text) return;
      const shown = held.slice(0, 4).map(({ component }) => component).join(", ");
      const more = held.length > 4 ? ", …" : "";
      option.lastElementChild.textContent = held.length ? `in ${shown}${more}` : "in none";
    }
  }

  openPopup() {
    this.popup.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
  }

  close() {
    this.wanted = null;
    this.popup.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  activate(index) {
    this.active = index;
    this.options.forEach((option, i) => option.setAttribute("aria-selected", String(i === index)));
    const option = this.options[index];
    if (!option) {
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    this.input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  choose(option) {
    const { kind, number } = option.dataset;
    this.close();
    this.input.blur();
    go(kind, number);
  }

  onKey(event) {
    const count = this.options.length;
    if (event.key === "Escape") {
      event.stopPropagation();
      if (this.popup.hidden) this.input.blur();
      this.close();
    } else if (this.popup.hidden || !count) {
      return;
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.activate((this.active + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
    } else if (event.key === "Enter" && this.options[this.active]) {
      event.preventDefault();
      this.choose(this.options[this.active]);
    }
  }
}
