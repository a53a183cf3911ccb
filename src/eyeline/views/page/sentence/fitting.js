// How large a text is drawn: one line fills the width; a longer text takes several lines; a long one is a column.

const LARGEST = 84; // pixels
const SMALLEST = { wide: 26, narrow: 21 }; // of a text in one line
const COLUMN = { wide: 120, narrow: 60 }; // units beyond which a text scrolls in a column
const MEASURED = 40; // the size at which the width of a line is first measured

/**
 * The width of a text in one line, at a size.
 * @type {(tokens: HTMLElement, size: number) => number}
 */
const widthAt = (tokens, size) => {
  tokens.style.fontSize = `${size}px`;
  return tokens.getBoundingClientRect().width;
};

/**
 * The largest size at which each line fits a width; the layout of these elements is measured. (`room` is asked after the
 * first measurement: before it, the browser would lay the page out once more.)
 * @type {(lines: HTMLElement[], room: () => number) => number}
 */
const largest = (lines, room) => {
  let [size, width] = [MEASURED, 0];
  for (const tokens of lines) Object.assign(tokens.style, { width: "max-content", whiteSpace: "pre" });
  // Labels don't grow in proportion: the second and the third time correct this.
  for (let time = 0; time < 3; time++) {
    const widest = Math.max(...lines.map((tokens) => widthAt(tokens, size)), 1);
    width ||= room();
    const next = Math.min((size * width) / widest, LARGEST);
    if (Math.abs(next - size) < 0.02) break;
    size = next;
  }
  for (const tokens of lines) Object.assign(tokens.style, { width: "", whiteSpace: "", fontSize: "" });
  return Math.floor(10 * size) / 10;
};

/**
 * The layout of the drawn lines of tokens, of `count` units in all, in the width in pixels that `room` finds; `broken` says
 * whether a text has line ends of its own.
 * @type {(lines: HTMLElement[], count: number, room: () => number, broken: boolean, narrow: boolean) => TextLayout}
 */
export const fitted = (lines, count, room, broken, narrow) => {
  if (count > COLUMN[narrow ? "narrow" : "wide"]) return { kind: "column", size: narrow ? 17 : 18 };
  const size = broken ? 0 : largest(lines, room);
  if (size >= SMALLEST[narrow ? "narrow" : "wide"]) return { kind: "line", size };
  return { kind: "lines", size: narrow ? 21 : Math.min(Math.max(Math.round((46 - count) * 0.4) + 20, 22), 32) };
};
