// Numbers and names as people read them.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const UNKNOWN = "–";
const LONGEST_NAME = 160;

/** Whether a number is there: what is not noted is null, left out, or no number. */
function isKnown(number) {
  return number !== null && number !== undefined && !Number.isNaN(number);
}

/** A whole number in groups of three. */
function whole(number) {
  return number === null || number === undefined ? UNKNOWN : WHOLE.format(Math.round(number));
}

/** A number with three digits that matter. */
function short(number) {
  if (number === null || number === undefined) return UNKNOWN;
  return Math.abs(number) >= 1000 ? WHOLE.format(Math.round(number)) : SHORT.format(number);
}

/** A difference, with its sign. */
function signed(number) {
  return `${number > 0 ? "+" : number < 0 ? "−" : ""}${short(Math.abs(number))}`;
}

/** A share as a percentage, never rounded to all or nothing (as elbmf.utils.text.percent has it). */
function percent(share) {
  if (share === null || share === undefined) return UNKNOWN;
  const value = 100 * share;
  if (value > 0 && value < 0.01) return "< 0.01 %";
  if (value < 100 && value > 99.9) return "> 99.9 %";
  if (value === 0 || value === 100) return `${value} %`;
  const digits = value < 1 ? 2 : value < 10 || value > 90 ? 1 : 0;
  return `${value.toFixed(digits)} %`;
}

/** A sentence in which no line ends between a number and its %. */
function unbroken(sentence) {
  return sentence.replaceAll(" %", "\u00a0%");
}

/** A measure of agreement, which is easier compared with as many digits. */
function agreement(number) {
  return number.toFixed(3);
}

/** "1 row", "2 rows". */
function counted(number, thing) {
  return `${whole(number)} ${number === 1 ? thing : `${thing}s`}`;
}

/** Where a number begins an axis: few round values between two. */
function roundValues(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= raw);
  const values = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) {
    values.push(Number(value.toPrecision(12)));
  }
  return values;
}

/** A power of ten, such as 10⁻⁵. */
function powerOfTen(exponent) {
  const raised = (digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);
  return `10${[...String(exponent)].map(raised).join("")}`;
}

/** A number short enough for an axis: 12k, 3.4M. */
function tiny(number) {
  if (number !== 0 && Math.abs(number) < 1e-3) {
    const exponent = Math.floor(Math.log10(Math.abs(number)) + 1e-9);
    const factor = SHORT.format(number / 10 ** exponent);
    return factor === "1" ? powerOfTen(exponent) : `${factor}·${powerOfTen(exponent)}`;
  }
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(number) >= 10 * size || (size > 1e3 && Math.abs(number) >= size)) {
      return SHORT.format(number / size) + letter;
    }
  }
  return Number.isInteger(number) ? WHOLE.format(number) : SHORT.format(number);
}

/**
 * A name as it can be shown: control characters as pictures of them, what is not text replaced,
 * and of a long one head and tail.
 */
function visibleName(name, longest = LONGEST_NAME) {
  const tame = name
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f]|\p{Surrogate}/gu, "\ufffd");
  const letters = Array.from(tame);
  if (letters.length <= longest) return tame;
  const tail = Math.floor((longest - 1) / 3);
  const ends = [letters.slice(0, longest - 1 - tail), letters.slice(letters.length - tail)];
  return ends.map((each) => each.join("")).join("…");
}
