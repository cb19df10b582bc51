// Puts the page together.

async function start() {
  const report = JSON.parse(byId("document").textContent);
  const firstNames = JSON.parse(byId("first-names").textContent);
  const axes = {
    row: new Axis(report.rows, "row", firstNames.rows),
    column: new Axis(report.columns, "column", firstNames.columns),
  };
  const indexes = { row: new NameIndex(axes.row), column: new NameIndex(axes.column) };
  speak(JSON.parse(byId("vocabulary").textContent));
  speakStatic(byId("app"));
  startTheme();
  byId("app").hidden = false;
  byId("plain").hidden = true;
  showSummary(report, axes);
  new ComponentsTable(report, axes, indexes).show();
  const matrix = await showMatrix(report, axes);
  performance.mark("elbmf-shown");
  await breathe();
  await showConsensus(report);
  showSets(report);
  showLabels(report, axes);
  showTables(report, axes);
  showRecipe(report);
  new Search(report, axes, indexes);
  new Detail(
    report,
    axes,
    (kind, number) => matrix.show(kind, number),
  );
  startKeyboard(report);
  startRoutes();
  // The sections were not there when the browser looked for the one in the address.
  if (route.kind === "section") byId(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.ready = "";
}

start().catch((error) => {
  byId("app").hidden = true;
  byId("plain").hidden = false;
  byId("plain").prepend(make(
    "p.warning",
    null,
    "This browser cannot show all of the report; what follows is its summary.",
  ));
  throw error;
});
