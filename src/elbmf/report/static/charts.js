// Lines over a number, drawn as SVG.

const CHART = { width: 340, height: 150, left: 46, right: 12, top: 12, bottom: 26 };

/**
 * Draw a line.
 * @param {object} chart
 * @param {number[]} chart.x
 * @param {(number | null)[]} chart.y
 * @param {string} chart.title what is drawn, for those who do not see it
 * @param {string} chart.xTitle
 * @param {number | null} [chart.marked] the x of a point to mark
 * @param {boolean} [chart.dots] whether to mark each point a little
 * @returns {Element | null} null where there is nothing to draw
 */
function lineChart({ x, y, title, xTitle, marked = null, dots = false }) {
  const points = x.map((each, i) => [each, y[i]]).filter(([, v]) => v !== null && v !== undefined);
  if (points.length < 2) return null;
  const { width, height, left, right, top, bottom } = CHART;
  const xs = points.map(([each]) => each);
  const ys = points.map(([, each]) => each);
  const [xLow, xHigh] = [Math.min(...xs), Math.max(...xs)];
  let [yLow, yHigh] = [Math.min(...ys), Math.max(...ys)];
  if (yLow > 0 && yLow < 0.4 * yHigh) yLow = 0;
  if (yHigh === yLow) yHigh = yLow + (Math.abs(yLow) || 1);
  const atX = (value) => left + ((value - xLow) / (xHigh - xLow || 1)) * (width - left - right);
  const atY = (value) => height - bottom - ((value - yLow) / (yHigh - yLow)) * (height - top - bottom);
  const last = points[points.length - 1];
  const lines = roundValues(yLow, yHigh, 3).map((value) => [
    draw("line", { class: "rule", x1: left, x2: width - right, y1: atY(value), y2: atY(value) }),
    draw("text", { class: "tick", x: left - 6, y: atY(value) + 4, "text-anchor": "end" }, tiny(value)),
  ]);
  const ticks = roundValues(xLow, xHigh, 5)
    .filter((value) => dots === false || Number.isInteger(value))
    .map((value) =>
      draw("text", { class: "tick", x: atX(value), y: height - bottom + 14, "text-anchor": "middle" }, tiny(value)),
    );
  const path = points.map(([a, b], i) => `${i ? "L" : "M"}${atX(a).toFixed(1)} ${atY(b).toFixed(1)}`);
  const described = `${title}: from ${short(points[0][1])} at ${xTitle} ${short(points[0][0])} to ${short(last[1])} at ${short(last[0])}`;
  return draw(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": described },
    lines,
    ticks,
    draw("text", { class: "tick", x: width - right, y: height - 1, "text-anchor": "end" }, xTitle),
    draw("path", { class: "line", d: path.join("") }),
    dots && points.length <= 40
      ? points.map(([a, b]) =>
          draw("circle", { class: "dot", cx: atX(a), cy: atY(b), r: 2.2 }, draw("title", null, `${short(a)}: ${short(b)}`)),
        )
      : null,
    points
      .filter(([a]) => a === marked)
      .map(([a, b]) => draw("circle", { class: "marked", cx: atX(a), cy: atY(b), r: 5 })),
  );
}

/** A chart under its title. */
function figureOf(title, chart) {
  return chart && make("figure.small", null, make("figcaption", null, title), chart);
}
