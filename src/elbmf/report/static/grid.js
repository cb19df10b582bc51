// A grid of bins, unpacked and turned into pixels.

const MODES = {
  data: { title: "Data", parts: ["hit", "missed"] },
  reconstruction: { title: "Reconstruction", parts: ["hit", "extra"] },
  errors: { title: "Errors", parts: ["hit", "missed", "extra"] },
};

/** Unpack the grid of the matrix or of a component. */
async function unpackGrid(data) {
  const [rowEdges, columnEdges, hit, missed, extra] = await Promise.all(
    [data.row_edges, data.column_edges, data.hit, data.missed, data.extra].map(unpack),
  );
  const exact = rowEdges[data.rows] === data.rows && columnEdges[data.columns] === data.columns;
  return { rows: data.rows, columns: data.columns, rowEdges, columnEdges, hit, missed, extra, exact };
}

/** Which ways of showing a grid there are. */
function modesOf(grid) {
  return grid.missed ? ["errors", "data", "reconstruction"] : ["reconstruction"];
}

/** The total share of each bin that is drawn, in 255ths. */
function totals(grid, mode) {
  const parts = MODES[mode].parts.map((part) => grid[part]).filter(Boolean);
  const sums = new Uint16Array(grid.hit.length);
  for (const part of parts) for (let i = 0; i < sums.length; i++) sums[i] += part[i];
  return sums;
}

/** The total that is drawn in full colour: nearly the greatest, so that one bin does not dim all. */
function fullTotal(sums) {
  const counts = new Uint32Array(1024);
  let some = 0;
  for (const sum of sums) {
    counts[sum]++;
    if (sum) some++;
  }
  let above = 0;
  for (let sum = counts.length - 1; sum > 0; sum--) {
    above += counts[sum];
    if (above > some / 200) return Math.min(sum, 255);
  }
  return 255;
}

/**
 * Paint a grid, a pixel for each bin: the more of a bin is drawn, the further from the colour of
 * paper, in the mean of the colours of what is in it.
 * @returns {{image: HTMLCanvasElement, full: number}} the picture, and the share in full colour
 */
function paint(grid, mode) {
  const paper = colour("cell-none");
  const inks = {
    hit: colour(mode === "errors" ? "cell-hit" : "cell-one"),
    missed: colour(mode === "errors" ? "cell-missed" : "cell-one"),
    extra: colour(mode === "errors" ? "cell-extra" : "cell-one"),
  };
  const parts = MODES[mode].parts.filter((part) => grid[part]);
  const arrays = parts.map((part) => grid[part]);
  const colours = parts.map((part) => inks[part]);
  const sums = totals(grid, mode);
  const full = grid.exact ? 255 : fullTotal(sums);
  const image = make("canvas", { width: grid.columns, height: grid.rows });
  const context = image.getContext("2d");
  const pixels = context.createImageData(grid.columns, grid.rows);
  const tones = new Float32Array(1024).map((_, sum) => Math.min(1, sum / full) ** 0.6);
  for (let i = 0; i < sums.length; i++) {
    const sum = sums[i];
    const tone = tones[sum];
    for (let channel = 0; channel < 3; channel++) {
      let mean = 0;
      if (sum) for (let part = 0; part < arrays.length; part++) mean += arrays[part][i] * colours[part][channel];
      pixels.data[4 * i + channel] = paper[channel] + (sum ? mean / sum - paper[channel] : 0) * tone;
    }
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return { image, full: full / 255 };
}

/** The bin that a place is in, with the share of the bin before it; edges ascend. */
function binOf(edges, place) {
  let low = 0;
  let high = edges.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= place) low = middle;
    else high = middle;
  }
  return low + (place - edges[low]) / Math.max(1, edges[low + 1] - edges[low]);
}

/** What the colours of a mode mean. */
function legendOf(grid, mode, full) {
  const swatch = (kind, text) => make("span.key", null, make(`i.swatch.${kind}`, null), text);
  const errors = [swatch("hit", "covered ones"), swatch("missed", "missed ones"), swatch("extra", "covered zeros")];
  const keys = {
    errors,
    data: [swatch("one", "ones")],
    reconstruction: [swatch("one", "covered cells")],
  }[mode];
  if (grid.exact) return keys;
  return [...keys, make("span.note", null, `full colour from ${percent(full)} of a bin’s cells`)];
}
