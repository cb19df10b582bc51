// Puts the page together.

const NARROW = matchMedia("(max-width: 1099px)");

/** Show what the address names beside the rest, or over it where there is no room. */
class Detail {
  constructor(report, axes, showInMatrix) {
    this.report = report;
    this.axes = axes;
    this.showInMatrix = showInMatrix;
    this.aside = byId("detail");
    this.opener = null;
    onRoute((route) => this.show(route));
    NARROW.addEventListener("change", () => this.cover());
    onTheme(() => {
      for (const picture of this.aside.querySelectorAll(".block-picture")) picture.repaint();
    });
  }

  async show(opened) {
    if (opened.kind === "section") {
      this.aside.hidden = true;
      delete this.aside.dataset.shown;
      this.cover();
      if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
      this.opener = null;
      return;
    }
    if (this.aside.hidden) this.opener = document.activeElement;
    const detail = opened.kind === "component"
      ? componentDetail(this.report, this.axes, opened.number, (number) => this.leaveFor("component", number))
      : lineDetail(this.report, this.axes, opened.kind, opened.number, (...line) => this.leaveFor(...line));
    const { title, content } = await detail;
    if (opened !== route) return;
    put(this.aside, this.header(opened, title), make("div.detail-content", null, content));
    this.aside.dataset.shown = `${opened.kind}-${opened.number}`;
    this.aside.hidden = false;
    this.aside.scrollTop = 0;
    this.cover();
    byId("detail-title").focus({ preventScroll: true });
  }

  header({ kind, number }, title) {
    const count = this.report.components.length;
    const to = (other, sign, name) =>
      make("a.step", { href: `#component-${(other + count) % count}`, "aria-label": name, title: name }, sign);
    const close = make("button.plain-button", { type: "button", id: "close-detail", "aria-label": "Close" }, "×");
    close.addEventListener("click", closeDetail);
    return make(
      "header",
      null,
      make("div", null, kind === "component" ? null : make("span.kind", null, kind), make("h2", { id: "detail-title", tabindex: "-1" }, title)),
      make(
        "div.controls",
        null,
        kind === "component" && count > 1 ? [to(number - 1, "‹", "Previous component"), to(number + 1, "›", "Next component")] : null,
        close,
      ),
    );
  }

  /** Where the detail covers the page, the page is out of reach. */
  cover() {
    const covered = NARROW.matches && !this.aside.hidden;
    byId("main").inert = covered;
    document.body.classList.toggle("covered", covered);
    document.body.classList.toggle("beside", !this.aside.hidden);
  }

  leaveFor(kind, number) {
    if (NARROW.matches) closeDetail();
    this.showInMatrix(kind, number);
  }
}

async function start() {
  const report = JSON.parse(byId("document").textContent);
  const firstNames = JSON.parse(byId("first-names").textContent);
  const axes = {
    row: new Axis(report.rows, "row", firstNames.rows),
    column: new Axis(report.columns, "column", firstNames.columns),
  };
  const indexes = { row: new NameIndex(axes.row), column: new NameIndex(axes.column) };
  startTheme();
  byId("app").hidden = false;
  byId("plain").hidden = true;
  showSummary(report);
  new ComponentsTable(report, axes, indexes).show();
  const matrix = await showMatrix(report, axes);
  performance.mark("elbmf-shown");
  await breathe();
  showLabels(report, axes);
  showRecipe(report);
  new Search(report, axes, indexes);
  new Detail(report, axes, (kind, number) => (kind === "component" ? matrix.showComponent(number) : matrix.showLine(kind, number)));
  startKeyboard(report);
  startRoutes();
  // The sections were not there when the browser looked for the one in the address.
  if (route.kind === "section" && location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.ready = "";
}

start().catch((error) => {
  byId("app").hidden = true;
  byId("plain").hidden = false;
  byId("plain").prepend(make("p.warning", null, "This browser cannot show all of the report; what follows is its summary."));
  throw error;
});
