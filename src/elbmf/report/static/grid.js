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
  return {
    rows: data.rows,
    columns: data.columns,
    rowEdges,
    columnEdges,
    hit,
    missed,
    extra,
    exact,
  };
}

/** Which ways of showing a grid there are. */
function modesOf(grid) {
  return grid.missed ? ["errors", "data", "reconstruction"] : ["reconstruction"];
}

/**
 * The total of shares, in 255ths, that is drawn in full colour: nearly the greatest, so that one
 * bin does not dim all others.
 */
function fullTotal(hit, missed, extra) {
  const counts = new Uint32Array(1024);
  for (let i = 0; i < hit.length; i++) counts[hit[i] + missed[i] + extra[i]]++;
  const some = hit.length - counts[0];
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
  const { parts } = MODES[mode];
  const nothing = new Uint8Array(grid.hit.length);
  const shares = (part) => (parts.includes(part) && grid[part]) || nothing;
  const inks = (part) => colour(mode === "errors" ? `cell-${part}` : "cell-one");
  const [hit, missed, extra] = ["hit", "missed", "extra"].map(shares);
  const [hits, misses, extras] = ["hit", "missed", "extra"].map(inks);
  const paper = colour("cell-none");
  const full = grid.exact ? 255 : fullTotal(hit, missed, extra);
  const tones = Float32Array.from({ length: 1024 }, (_, sum) => Math.min(1, sum / full) ** 0.6);
  const image = make("canvas", { width: grid.columns, height: grid.rows });
  const context = image.getContext("2d");
  const pixels = context.createImageData(grid.columns, grid.rows);
  const { data } = pixels;
  for (let i = 0, at = 0; i < hit.length; i++, at += 4) {
    const [h, m, e] = [hit[i], missed[i], extra[i]];
    const sum = h + m + e;
    const tone = sum ? tones[sum] / sum : 0;
    for (let channel = 0; channel < 3; channel++) {
      const mixed = h * hits[channel] + m * misses[channel] + e * extras[channel];
      data[at + channel] = paper[channel] + (mixed - sum * paper[channel]) * tone;
    }
    data[at + 3] = 255;
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

/** What a colour means. */
function swatch(kind, text) {
  return make("span.key", null, make(`i.swatch.${kind}`, null), text);
}

/** What the colours of a mode mean. */
function legendOf(grid, mode, full, missing) {
  const errors = [
    swatch("hit", "covered ones"),
    swatch("missed", "missed ones"),
    swatch("extra", "covered zeros"),
  ];
  const keys = {
    errors,
    data: [swatch("one", "ones")],
    reconstruction: [swatch("one", "covered cells")],
  }[mode];
  if (missing && mode === "errors") keys.push(make("span.note", null, "missing cells are left blank"));
  if (grid.exact) return keys;
  return [...keys, make("span.note", null, `full colour from ${percent(full)} of a bin’s cells`)];
}
