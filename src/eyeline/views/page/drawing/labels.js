// Labels: words with control characters made visible, and numbers as texts.

const SPACES = /[\t-\r\x1c-\x1f\x85\u2028\u2029]+/g;
const CONTROLS = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** @type {(character: string) => string} */
const pictured = (character) => {
  const code = character.charCodeAt(0);
  if (code === 0x7f) return "␡";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
};

/**
 * Text as typed, except that control characters become their pictures, so that they can't affect the line.
 * @type {(text: string) => string}
 */
export const printable = (text) => text.replace(SPACES, " ").replace(CONTROLS, pictured);

/**
 * The label of a word: without surrounding spaces; quoted if it is only spaces.
 * @type {(text: string) => string}
 */
export const named = (text) => printable(text.trim()) || JSON.stringify(text);

/**
 * The label of a word or a piece: a hyphen marks each side of a piece where its word continues.
 * @type {(unit: Unit) => string}
 */
export const labelled = ({ text, before, after }) => `${before ? "-" : ""}${named(text)}${after ? "-" : ""}`;

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A label within a sentence of ours: one that reads from right to left is isolated, so that it moves nothing else.
 * @type {(text: string) => string}
 */
export const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/** A share in whole percent; only 0 is shown as 0%. @type {(share: number) => string} */
export const percent = (share) => (share > 0 && share < 0.005 ? "<1%" : `${Math.round(share * 100)}%`);

/**
 * A number beside others on a scale: in whole percent, or where the scale ends at 5 % or before, in tenths of one.
 * @type {(share: number, end: number) => string}
 */
export const onScale = (share, end) => {
  if (end > 0.05) return percent(share);
  return share > 0 && share < 0.0005 ? "<0.1%" : `${(share * 100).toFixed(1)}%`;
};

/**
 * A number in few digits for a table, with a true minus sign.
 * @type {(value: number, digits?: number) => string}
 */
export const figure = (value, digits = 3) => {
  if (value === -Infinity) return "−∞";
  if (value === Infinity) return "∞";
  if (Number.isNaN(value)) return "–";
  const text = Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 10 ** -digits / 2)
    ? value.toExponential(1)
    : value.toFixed(digits);
  return text.replace("-", "−");
};
