// How the result was made, and how to make it again.

const TRACED = {
  relaxed_loss: "Loss of the relaxation",
  rounded_loss: "Loss when rounded",
  gap: "Boolean gap",
  flips: "Flipped bits",
  loss_gap: "Loss gap",
  hamming: "Cells flipped so far (share)",
  lam: "Weight of the regulariser",
};

const MOST_RUNS = 20;

function showRecipe({ recipe, trace }) {
  put(
    byId("made-content"),
    commandOf("On the command line", recipe.command),
    commandOf("In Python", recipe.code),
    make(
      "div.facts",
      null,
      factsOf("Parameters", recipe.parameters),
      factsOf("Data", recipe.data),
      factsOf(
        "Versions",
        { ...recipe.versions, ...(recipe.seed === null ? {} : { seed: recipe.seed }) },
      ),
      stagesOf(recipe),
      runsOf(recipe),
    ),
    traceOf(trace),
  );
}

function commandOf(title, text) {
  if (!text) return null;
  return make(
    "div.command",
    null,
    make("h3", null, title),
    make(
      "div.code",
      null,
      make("pre", { tabindex: "0" }, make("code", null, text)),
      copyButton(text),
    ),
  );
}

function factsOf(title, facts) {
  const entries = Object.entries(facts);
  if (!entries.length) return null;
  return make(
    "div",
    null,
    make("h3", null, title),
    make(
      "dl.pairs",
      null,
      entries.map(([name, value]) => make(
        "div",
        null,
        make("dt", null, nameText(name, 60)),
        make("dd", null, nameText(String(value), 400)),
      )),
    ),
  );
}

/** What stages and runs are compared by: wrong cells, unless one kind weighs more than the other. */
function lossName({ parameters }) {
  return Number(parameters.extra_weight ?? 1) === 1 ? "Wrong cells" : "Cost, errors weighed,";
}

function stagesOf(recipe) {
  if (!recipe.stages.length) return null;
  const rows = recipe.stages.map(([name, loss]) => [nameText(name, 60), loss]);
  const title = `${lossName(recipe)} after each stage`;
  return make("div", null, make("h3", null, title), lossTable(rows));
}

function runsOf(recipe) {
  const losses = recipe.run_losses;
  if (losses.length < 2) return null;
  const best = losses.indexOf(Math.min(...losses));
  const rest = losses.slice(MOST_RUNS);
  const rows = losses
    .slice(0, MOST_RUNS)
    .map((loss, i) => [`run ${i}${i === best ? ", the best" : ""}`, loss]);
  return make(
    "div",
    null,
    make("h3", null, `${lossName(recipe)} of each run`),
    lossTable(rows),
    rest.length ? make(
      "p.note",
      null,
      `and ${counted(rest.length, "other")}, the best with ${whole(Math.min(...rest))}`,
    ) : null,
  );
}

/** A table of what is named and how many cells are wrong there. */
function lossTable(rows) {
  const greatest = Math.max(...rows.map(([, loss]) => loss), 1);
  return make(
    "table.small",
    null,
    make("tbody", null, rows.map(([name, loss]) => make(
      "tr",
      null,
      make("td", null, name),
      make("td", null, whole(loss), bar(loss / greatest)),
    ))),
  );
}

function traceOf(trace) {
  if (!trace) return null;
  const columns = new Map(Object.entries(trace.columns));
  const length = Math.max(0, ...[...columns.values()].map((values) => values.length));
  const x = columns.get(trace.name) ?? Array.from({ length }, (_, i) => i);
  const charts = Object.entries(TRACED)
    .filter(([key]) => columns.has(key))
    .map(([key, title]) => figureOf(
      title,
      lineChart({
        x,
        y: columns.get(key),
        title,
        xTitle: visibleName(trace.name, 30),
        mayBeLogarithmic: true,
      }),
    ))
    .filter(Boolean);
  if (!charts.length) return null;
  return make("div", null, make("h3", null, "Course of the fit"), make("div.curves", null, charts));
}
