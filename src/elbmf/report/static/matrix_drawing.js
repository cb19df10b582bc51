// The matrix on its canvas: the grid, outlines of a component, marks, and numbers at the edges.

const GUTTER = { left: 34, top: 20 };
// Points between runs that are outlined as one.
const CLOSE = 6;

/** Draw what a view shows. */
function drawMatrix(view) {
  const { canvas, plot } = view;
  const density = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return;
  const pixels = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) {
    [canvas.width, canvas.height] = pixels;
  }
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  const picture = view.picture();
  const frame = [GUTTER.left, GUTTER.top, plot.width, plot.height];
  context.save();
  context.beginPath();
  context.rect(...frame);
  context.clip();
  const { image, part } = shrunk(view, picture.image, plot.width * density, plot.height * density);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, ...part, ...frame);
  drawOutlines(view, context);
  drawMarks(view, context);
  context.restore();
  context.strokeStyle = css(colour("rule"));
  context.strokeRect(GUTTER.left - 0.5, GUTTER.top - 0.5, plot.width + 0.5, plot.height + 0.5);
  drawTicks(view, context);
  put(byId("matrix-legend"), legendOf(view.grid, view.mode, picture.full, view.report.summary.missing));
}

/**
 * What is in view, with bins that are smaller than pixels blended; others keep their edges.
 * @returns {{image: HTMLCanvasElement, part: number[]}} a picture, and what of it to show
 */
function shrunk({ view }, image, width, height) {
  const part = [view.left, view.top, view.width, view.height];
  if (view.width <= width && view.height <= height) return { image, part };
  const size = [width, height].map((most, side) => Math.ceil(Math.min(most, part[2 + side])));
  const small = make("canvas", { width: size[0], height: size[1] });
  const context = small.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(image, ...part, 0, 0, ...size);
  return { image: small, part: [0, 0, ...size] };
}

/** Draw a line round the longest runs of the component that is open. */
function drawOutlines(view, context) {
  if (view.selected === null) return;
  const { rows, columns } = view.spansOf(view.selected);
  const down = joined(rows.map((span) => span.map((bin) => view.toY(bin))));
  const across = joined(columns.map((span) => span.map((bin) => view.toX(bin))));
  for (const [style, width] of [[css(colour("paper"), 0.9), 4], [css(colour("accent")), 2]]) {
    context.strokeStyle = style;
    context.lineWidth = width;
    for (const [y, bottom] of down) {
      for (const [x, right] of across) {
        context.strokeRect(x, y, Math.max(3, right - x), Math.max(3, bottom - y));
      }
    }
  }
  context.lineWidth = 1;
}

/** Join runs that are too close to be told apart. */
function joined(runs) {
  const result = [];
  for (const [low, high] of [...runs].sort((a, b) => a[0] - b[0])) {
    const last = result[result.length - 1];
    if (last && low - last[1] < CLOSE) last[1] = Math.max(last[1], high);
    else result.push([low, high]);
  }
  return result;
}

/** Show where the pointer is, and the line that was looked for. */
function drawMarks(view, context) {
  const { bin, markedLine, plot } = view;
  const mark = (kind, at, least) => {
    const to = kind === "row" ? (each) => view.toY(each) : (each) => view.toX(each);
    const [from, end] = [to(at), to(at + 1)];
    const size = Math.max(least, end - from);
    if (kind === "row") context.fillRect(GUTTER.left, from, plot.width, size);
    else context.fillRect(from, GUTTER.top, size, plot.height);
  };
  if (bin) {
    context.fillStyle = css(colour("ink"), 0.13);
    mark("row", bin.row, 1);
    mark("column", bin.column, 1);
  }
  if (markedLine) {
    context.fillStyle = css(colour("accent"), 0.75);
    mark(markedLine.kind, markedLine.bin, 2);
  }
}

/** Write numbers of components beside their longest runs, as many as there is room for. */
function drawTicks(view, context) {
  const { width, height } = view.plot;
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  drawTicksOf(view, context, {
    key: "rows",
    to: (bin) => view.toY(bin),
    low: GUTTER.top,
    high: GUTTER.top + height,
    room: () => 13,
    line: (from, end) => [GUTTER.left - 5, from, 2, end - from],
    text: (at) => [GUTTER.left / 2 - 3, at],
  });
  drawTicksOf(view, context, {
    key: "columns",
    to: (bin) => view.toX(bin),
    low: GUTTER.left,
    high: GUTTER.left + width,
    room: (text) => 7 * text.length + 8,
    line: (from, end) => [from, GUTTER.top - 5, end - from, 2],
    text: (at) => [at, GUTTER.top / 2 - 2],
  });
}

function drawTicksOf(view, context, { key, to, low, high, room, line, text }) {
  const runs = view.report.components
    .map((_, component) => ({ component, longest: view.spansOf(component)[key][0] }))
    .filter(({ longest }) => longest)
    .map(({ component, longest: [from, end] }) => ({
      component,
      from: Math.max(low, to(from)),
      end: Math.min(high, to(end)),
      chosen: component === view.selected,
    }))
    .filter(({ from, end }) => end > from)
    .sort((a, b) => b.chosen - a.chosen || b.end - b.from - (a.end - a.from));
  const [lineColours, textColours] = [["faint", "accent"], ["muted", "accent"]].map((names) =>
    names.map((name) => css(colour(name))),
  );
  const taken = [];
  for (const { component, from, end, chosen } of runs) {
    const middle = (from + end) / 2;
    const reach = room(String(component));
    const near = (other) => Math.abs(other.middle - middle) < (other.reach + reach) / 2;
    if (taken.some(near)) continue;
    taken.push({ middle, reach });
    context.fillStyle = lineColours[Number(chosen)];
    context.fillRect(...line(from + 1, Math.max(from + 2, end - 1)));
    context.fillStyle = textColours[Number(chosen)];
    context.fillText(String(component), ...text(middle));
  }
}
