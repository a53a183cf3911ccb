// The labels beside a matrix: units as typed where there is room, else their numbers at a few places.

const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const GAP = 8; // pixels between a label and the cells
const ROOM = 12; // pixels that a label takes across its line

/** Whether a label begins with a letter of a script that is written from right to left. */
export const leftward = (text) => RIGHT_TO_LEFT.test(text);

/** How wide texts are in a font, and texts cut to a width. */
export class Ruler {
  constructor(font) {
    this.context = document.createElement("canvas").getContext("2d");
    this.context.font = font;
    this.font = font;
    this.cut = new Map();
  }

  width(text) {
    return this.context.measureText(text).width;
  }

  /** As much of a text as fits, with an ellipsis if that isn't all. */
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

/** How wide the widest of some labels is, in pixels; of many, a part is asked. */
export const widest = (ruler, labels) => {
  let most = 0;
  const step = Math.ceil(labels.length / 400);
  for (let at = 0; at < labels.length; at += step) most = Math.max(most, ruler.width(labels[at].slice(0, 60)));
  return most;
};

/** The numbers at which an axis without labels is marked, `room` pixels or more apart. */
const ticks = (first, last, size, room) => {
  const least = room / size;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max([1, 2, 5, 10].map((times) => times * power).find((one) => one >= least), 1);
  const found = [];
  for (let number = Math.max(Math.ceil(first / step) * step, 1); number <= last; number += step) found.push(number);
  return found;
};

/**
 * What to write beside the cells that are seen.
 * @param lines {rows, columns}: each {title, labels, numbers, marked: Set of places, pinned: Set, at: the place that is
 *   pointed at, or null}
 * @returns [{text, x, y, turned, align, colour, strong, boxed}], x and y in pixels from the corner of the cells
 */
export const labels = (viewport, gutter, lines, ruler) => {
  const { seen, size } = viewport;
  const found = [];
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
      found.push({ text: shown, x, y: -GAP - 5, turned: false, align: "center", ...extra });
    }
  };
  const title = { x: -GAP, turned: false, align: "right", colour: "quiet", strong: false };
  found.push({ ...title, text: `${lines.columns.title} →`, y: -GAP - 18 });
  found.push({ ...title, text: `${lines.rows.title} ↓`, y: -GAP - 2 });
  for (const row of [true, false]) {
    const line = row ? lines.rows : lines.columns;
    const [first, last] = row ? [seen.top, seen.bottom] : [seen.left, seen.right];
    const own = row ? "query" : "key";
    const look = (place) => ({
      colour: place === line.at || line.pinned.has(place) || line.marked.has(place) ? own : "text",
      strong: place === line.at || line.pinned.has(place),
    });
    if (size >= ROOM) {
      for (let place = first; place < last; place++) put(row, place, line.labels[place], look(place));
      continue;
    }
    const numbers = line.numbers;
    const inside = (place) => place !== null && place >= first && place < last;
    const named = new Set([...line.marked, ...line.pinned, line.at].filter(inside));
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
