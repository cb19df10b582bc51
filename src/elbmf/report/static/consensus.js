// How often rows are in a component together, in fits of resampled data.

async function showConsensus({ consensus }) {
  byId("consensus").hidden = !consensus;
  byId("to-consensus").hidden = !consensus;
  if (!consensus) return;
  const { runs, cophenetic, side } = consensus;
  const shares = await unpack(consensus.shares);
  const unseen = 255;
  put(
    byId("consensus-text"),
    `In how many of ${counted(runs, "fit")} of resampled data two rows are in a component together. `,
    "Rows that often are stand next to each other: dark squares are groups that return, grey ones ",
    "depend on the sample.",
    cophenetic === null ? "" : ` Cophenetic correlation: ${agreement(cophenetic)}.`,
  );
  const canvas = make("canvas.consensus", {
    width: side,
    height: side,
    role: "img",
    "aria-label": "Map of how often rows are in a component together",
  });
  put(
    byId("consensus-content"),
    canvas,
    make(
      "p.note",
      null,
      "White: never together; full colour: in each run.",
      shares.includes(unseen) ? " Orange: no run saw both." : "",
    ),
  );
  onTheme(paint);
  paint();

  function paint() {
    const together = colour("cell-one");
    const unknown = [...colour("cell-extra"), 90];
    const pixels = new ImageData(side, side);
    shares.forEach((share, i) =>
      pixels.data.set(share === unseen ? unknown : [...together, Math.round((255 * share) / 254)], 4 * i),
    );
    canvas.getContext("2d").putImageData(pixels, 0, 0);
  }
}
