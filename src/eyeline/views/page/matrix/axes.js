// The axis labels of a matrix: the units where there is room, else numbers at intervals.

import { contextOf } from "../drawing/dom.js";

const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const GAP = 8; // pixels between a label and the cells
/** The pixels of a cell from which each has a label. */
export const LABELLED = 12;

/**
 * Whether a label begins with a letter of a script that is written from right to left.
 * @type {(text: string) => boolean}
 */
export const leftward = (text) => RIGHT_TO_LEFT.test(text);

/** Measures texts in a font, and cuts them to a width. */
export class Ruler {
  /** @param {string} font */
  constructor(font) {
    this.context = contextOf(document.createElement("canvas"));
    this.context.font = font;
    this.font = font;
    /** @type {Map<string, string>} */
    this.cut = new Map();
  }

  /** @param {string} text */
  width(text) {
    return this.context.measureText(text).width;
  }

  /**
   * The beginning of a text that fits a width, with an ellipsis if it is cut.
   * @param {string} text
   * @param {number} width
   */
  fit(text, width) {
    const name = `${Math.round(width)} ${text}`;
    let found = this.cut.get(name);
    if (found === undefined) {
      if (this.cut.size > 4000) this.cut.clear();
      found = this._cut(text, width);
      this.cut.set(name, found);
    }
    return found;
  }

  /**
   * @param {string} text
   * @param {number} width
   */
  _cut(text, width) {
    if (text.length < 400 && this.width(text) <= width) return text;
    const signs = [...new Intl.Segmenter().segment(text.slice(0, 400))].map(({ segment }) => segment);
    let [low, high] = [0, signs.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.width(`${signs.slice(0, middle).join("")}…`) <= width) low = middle;
      else high = middle - 1;
    }
    return `${signs.slice(0, low).join("")}…`;
  }
}

/**
 * The width of the widest label, in pixels; if there are many labels, of a sample.
 * @type {(ruler: Ruler, labels: string[]) => number}
 */
export const widest = (ruler, labels) => {
  let most = 0;
  const step = Math.ceil(labels.length / 400);
  for (let at = 0; at < labels.length; at += step) most = Math.max(most, ruler.width(labels[at].slice(0, 60)));
  return most;
};

/**
 * The numbers at which an axis without labels is marked, `room` pixels or more apart.
 * @type {(first: number, last: number, size: number, room: number) => number[]}
 */
const ticks = (first, last, size, room) => {
  const least = room / size;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max([1, 2, 5, 10].map((times) => times * power).find((one) => one >= least) ?? 1, 1);
  const found = [];
  for (let number = Math.max(Math.ceil(first / step) * step, 1); number <= last; number += step) found.push(number);
  return found;
};

/**
 * A text beside the cells, x and y in pixels from their corner.
 * @typedef {{
 *   text: string, x: number, y: number, turned: boolean, align: "left" | "right" | "center", colour: string,
 *   strong: boolean, boxed?: boolean, number?: boolean,
 * }} Label
 */

/**
 * The labels of the visible cells.
 * @type {(viewport: Viewport, gutter: Gutter, lines: SceneLines, ruler: Ruler) => Label[]}
 */
export const labels = (viewport, gutter, lines, ruler) => {
  const { seen, size } = viewport;
  /** @type {Label[]} */
  const found = [];
  /** @typedef {{ colour: string, strong: boolean, boxed?: boolean, number?: boolean }} Extra */
  /** @type {(row: boolean, place: number, text: string, extra: Extra) => void} */
  const put = (row, place, text, extra) => {
    const middle = row ? viewport.y(place + 0.5) : viewport.x(place + 0.5);
    const end = row ? viewport.height : viewport.width;
    if (middle < -1 || middle > end + 1) return;
    if (row) {
      const shown = ruler.fit(text, gutter.left - GAP - 6);
      found.push({ text: shown, x: -GAP, y: middle, turned: false, align: "right", ...extra });
    } else if (gutter.turned && !extra.number) {
      const shown = ruler.fit(text, gutter.top - GAP - 6);
      found.push({ text: shown, x: middle, y: -GAP, turned: true, align: "left", ...extra });
    } else {
      const shown = extra.number ? text : ruler.fit(text, Math.max(size - 6, 40));
      const half = Math.min(ruler.width(shown), end) / 2;
      const x = Math.max(Math.min(middle, end - half), half);
      found.push({ text: shown, x, y: -GAP - gutter.letters / 2 + 1, turned: false, align: "center", ...extra });
    }
  };
  /** @type {(text: string, y: number) => Label} */
  const title = (text, y) => ({ text, x: -GAP, y, turned: false, align: "right", colour: "quiet", strong: false });
  const apart = gutter.letters + 4;
  found.push(title(`${lines.columns.title} →`, -GAP - 2 - apart), title(`${lines.rows.title} ↓`, -GAP - 2));
  for (const row of [true, false]) {
    const line = row ? lines.rows : lines.columns;
    const [first, last] = row ? [seen.top, seen.bottom] : [seen.left, seen.right];
    const own = row ? "query" : "key";
    /** @type {(place: number) => Extra} */
    const look = (place) => ({
      colour: place === line.at || line.pinned.has(place) || line.marked.has(place) ? own : "text",
      strong: place === line.at || line.pinned.has(place),
    });
    if (size >= LABELLED) {
      for (let place = first; place < last; place++) put(row, place, line.labels[place], look(place));
      continue;
    }
    const numbers = line.numbers;
    const all = [...line.marked, ...line.pinned, ...(line.at === null ? [] : [line.at])];
    const named = new Set(all.filter((place) => place >= first && place < last));
    /** @type {(place: number) => boolean} */
    const free = (place) => [...named].every((at) => Math.abs(at - place) * size > (row ? 14 : 24));
    const room = row ? 40 : 20 + 9 * String(numbers[last - 1]).length;
    for (const number of ticks(numbers[first], numbers[last - 1], size, room)) {
      const place = numbers.indexOf(number, first); // -1 if it is set aside
      if (place < first || !free(place)) continue;
      put(row, place, String(number), { colour: "quiet", strong: false, number: true });
    }
    for (const place of named) put(row, place, line.labels[place], { ...look(place), boxed: true });
  }
  return found;
};
