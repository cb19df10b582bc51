// What is open, beside the rest of the page.

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
    const { kind, number } = opened;
    const showInMatrix = () => this.leaveFor(kind, number);
    const { title, content } = await (kind === "component"
      ? componentDetail(this.report, this.axes, number, showInMatrix)
      : lineDetail(this.report, this.axes, kind, number, showInMatrix));
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
      make(
        "a.step",
        { href: `#component-${(other + count) % count}`, "aria-label": name, title: name },
        sign,
      );
    const close = make(
      "button.plain-button",
      { type: "button", id: "close-detail", "aria-label": "Close" },
      "×",
    );
    close.addEventListener("click", closeDetail);
    return make(
      "header",
      null,
      make(
        "div",
        null,
        kind === "component" ? null : make("span.kind", null, kind),
        make("h2", { id: "detail-title", tabindex: "-1" }, title),
      ),
      make(
        "div.controls",
        null,
        kind === "component" && count > 1 ? [
          to(number - 1, "‹", "Previous component"),
          to(number + 1, "›", "Next component"),
        ] : null,
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
