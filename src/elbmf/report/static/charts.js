// Lines over a number, drawn as SVG.

const CHART = { width: 340, height: 156, left: 46, right: 12, top: 12, bottom: 32 };

/** Where values are on an axis: evenly or, where a few dwarf all others, by their logarithms. */
function scaleOf(values, mayBeLogarithmic) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const middle = [...values].sort((a, b) => a - b)[values.length >> 1];
  if (mayBeLogarithmic && low >= 0 && high > 40 * middle && values.length > 10) {
    const least = Math.min(...values.filter((each) => each > 0), high / 10);
    const [from, to] = [Math.floor(Math.log10(least)), Math.log10(high)];
    const powers = Array.from({ length: Math.floor(to) - from + 1 }, (_, i) => from + i);
    const step = Math.ceil(powers.length / 4);
    return {
      share: (value) => (value > 0 ? Math.max(
        0,
        (Math.log10(value) - from) / (to - from || 1),
      ) : 0),
      values: powers.filter((_, i) => i % step === 0).map((power) => Number(`1e${power}`)),
      logarithmic: true,
    };
  }
  if (low > 0 && low < 0.4 * high) low = 0;
  if (high === low) high = low + (Math.abs(low) || 1);
  return {
    share: (value) => (value - low) / (high - low),
    values: roundValues(low, high, 3),
    logarithmic: false,
  };
}

/**
 * Draw a line.
 * @param {object} chart
 * @param {number[]} chart.x
 * @param {(number | null)[]} chart.y
 * @param {string} chart.title what is drawn, for those who do not see it
 * @param {string} chart.xTitle
 * @param {number | null} [chart.marked] the x of a point to mark
 * @param {boolean} [chart.dots] whether to mark each point a little
 * @param {boolean} [chart.mayBeLogarithmic] whether a few great values may be drawn by logarithms
 * @returns {Element | null} null where there is nothing to draw
 */
function lineChart({ x, y, title, xTitle, marked = null, dots = false, mayBeLogarithmic = false }) {
  const points = x.map((each, i) => [each, y[i]]).filter(([, v]) => v !== null && v !== undefined);
  if (points.length < 2) return null;
  const { width, height, left, right, top, bottom } = CHART;
  const xs = points.map(([each]) => each);
  const ys = points.map(([, each]) => each);
  const [xLow, xHigh] = [Math.min(...xs), Math.max(...xs)];
  const scale = scaleOf(ys, mayBeLogarithmic);
  const atX = (value) => left + ((value - xLow) / (xHigh - xLow || 1)) * (width - left - right);
  const atY = (value) => height - bottom - scale.share(value) * (height - top - bottom);
  const last = points[points.length - 1];
  const lines = scale.values.map((value) => [
    draw("line", { class: "rule", x1: left, x2: width - right, y1: atY(value), y2: atY(value) }),
    draw(
      "text",
      { class: "tick", x: left - 6, y: atY(value) + 4, "text-anchor": "end" },
      tiny(value),
    ),
  ]);
  const ticks = roundValues(xLow, xHigh, 5)
    .filter((value) => dots === false || Number.isInteger(value))
    .map((value) =>
      draw(
        "text",
        { class: "tick", x: atX(value), y: height - bottom + 14, "text-anchor": "middle" },
        tiny(value),
      ),
    );
  const path = points.map(
    ([a, b], i) => `${i ? "L" : "M"}${atX(a).toFixed(1)} ${atY(b).toFixed(1)}`,
  );
  const told = ([at, value]) => `${short(value)} at ${xTitle} ${short(at)}`;
  const described = `${title}: from ${told(points[0])} to ${told(last)}`;
  return draw(
    "svg",
    {
      class: "chart",
      "data-scale": scale.logarithmic ? "logarithmic" : null,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": described,
    },
    lines,
    ticks,
    draw("text", { class: "tick", x: width - right, y: height - 3, "text-anchor": "end" }, spoken(xTitle)),
    draw("path", { class: "line", d: path.join("") }),
    dots && points.length <= 40
      ? points.map(([a, b]) =>
          draw(
            "circle",
            { class: "dot", cx: atX(a), cy: atY(b), r: 2.2 },
            draw("title", null, `${short(a)}: ${short(b)}`),
          ),
        )
      : null,
    points
      .filter(([a]) => a === marked)
      .map(([a, b]) => draw("circle", { class: "marked", cx: atX(a), cy: atY(b), r: 5 })),
  );
}

/** A chart under its title. */
function figureOf(title, chart) {
  return chart && make(
    "figure.small",
    null,
    make("figcaption", null, title, chart.dataset.scale ? ` (${chart.dataset.scale})` : ""),
    chart,
  );
}
