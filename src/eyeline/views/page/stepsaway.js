// What is taken away of the steps view: its numbers as a table, and a picture of it.

import { tint } from "./colour.js";
import { shape } from "./dom.js";
import { products, running } from "./formula.js";
import { figure } from "./labels.js";
import { scaleName } from "./stepscores.js";
import { endsOf } from "./walk.js";

/**
 * All numbers, those of keys that aren't shown too: a row for the query, for each key, for the products with the chosen
 * one, for each value, and for the new vector now and before. What is hidden has no masked score.
 */
export const numbersOfSteps = (walk) => {
  const { head, now, before, trace } = walk;
  const width = Math.max(head.D, head.v ? head.E : 0);
  const columns = [
    "what", "token", "text", "seen", "score", "scaled", "masked", "exponential", "weight", "weight_before",
    ...Array.from({ length: width }, (_, at) => String(at + 1)),
  ];
  const row = (what, token, text, rest, vector) => [what, token === null ? null : token + 1, text, ...rest, ...vector, ...Array(width - vector.length).fill(null)];
  const none = Array(7).fill(null);
  const asTyped = (line, token) => line.tokens[token].text;
  const key = (j) => [
    now.seen[j], now.scores[j], now.scaled[j], now.seen[j] ? now.masked[j] : null, now.exponentials[j], now.weights[j], before.weights[j],
  ];
  const keys = Array.from(now.weights.keys());
  const text = asTyped(trace.queries, walk.token);
  const rows = [
    row("query", walk.token, text, none, [...walk.query]),
    ...keys.map((j) => row("key", j, asTyped(trace.keys, j), key(j), [...walk.keyOf(j)])),
    row("products", walk.key, asTyped(trace.keys, walk.key), none, [...products(head, walk.token, walk.key)]),
    ...(head.v ? keys.map((j) => row("value", j, asTyped(trace.keys, j), none, [...walk.valueOf(j)])) : []),
    ...(head.v ? [row("output", walk.token, text, none, [...now.output])] : []),
    ...(head.v && walk.changed ? [row("output_before", walk.token, text, none, [...before.output])] : []),
  ];
  return { name: "steps", columns, rows };
};

const [WIDE, LABEL, ROW] = [1080, 130, 22];
const [LEFT, RIGHT] = [LABEL, WIDE - 84]; // of strips

// Draws downwards: a title, strips and lines of text, one under the other.
class Sheet {
  constructor(page, colour) {
    Object.assign(this, { page, colour, y: 0, parts: [] });
  }

  text(x, text, { kind = "--text", size = 14, weight = 400, anchor = "start", y = this.y, font } = {}) {
    this.parts.push(
      shape("text", { x, y, fill: this.colour(kind), "font-size": size, "font-weight": weight, "text-anchor": anchor, "font-family": font }, text),
    );
  }

  number(x, value, { kind = "--text", digits = 3, y = this.y, weight = 400 } = {}) {
    this.text(x, figure(value, digits), { kind, size: 12.5, anchor: "end", y, weight, font: "ui-monospace, Menlo, Consolas, monospace" });
  }

  label(text, kind, extra = {}) {
    const whole = Array.from(text);
    this.text(0, whole.length > 15 ? `${whole.slice(0, 14).join("")}…` : text, { kind, ...extra });
  }

  heading(nth, title, size) {
    this.y += 44;
    this.box(0, this.y - 22, WIDE, 1, this.colour("--line"));
    this.text(0, `${nth}  ${title}`, { size: 16, weight: 600 });
    this.text(WIDE, size, { kind: "--quiet", size: 13, anchor: "end", font: "ui-monospace, Menlo, Consolas, monospace" });
    this.y += 8;
  }

  box(x, y, width, height, fill, more = {}) {
    this.parts.push(shape("rect", { x, y, width, height, fill, ...more }));
  }

  /** Cells of a vector from `left` to `right`, on the line of text at y. */
  cells(values, end, left = LEFT, right = RIGHT, height = 16) {
    const wide = (right - left) / values.length;
    const gap = wide >= 7 ? 1 : 0;
    values.forEach((value, at) => {
      const fill = Number.isFinite(value) ? tint(end ? value / end : 0, this.page.dark) : "#888";
      this.box(Number((left + at * wide).toFixed(2)), this.y - height + 4, Number((wide - gap).toFixed(2)), height, fill);
    });
  }
}

/** The view as it stands, for one key's products, as an SVG that needs nothing else. */
export const pictureOfSteps = (page, walk, chosen, colour) => {
  const { head, now, before } = walk;
  const sheet = new Sheet(page, colour);
  const ends = endsOf(walk);
  sheet.y = 26;
  sheet.text(0, page.say("steps.title", { word: walk.word }), { size: 22, weight: 600 });
  sheet.y += 26;
  const values = head.v ? ` · V [${head.M} × ${head.E}] = x′ [1 × ${head.E}]` : " · V";
  sheet.text(0, `${page.say("steps.where", { layer: walk.layer + 1, head: walk.number + 1 })}   softmax(q [1 × ${head.D}] · Kᵀ [${head.D} × ${head.M}] ${scaleName(walk)})${values}`, { kind: "--quiet" });
  const down = (height = ROW) => (sheet.y += height);

  sheet.heading(1, page.say("steps.query"), `q: 1 × ${head.D}`);
  down();
  sheet.label(walk.word, "--query");
  sheet.cells(walk.query, ends.query);

  sheet.heading(2, page.say("steps.keys"), `K: ${head.M} × ${head.D}`);
  for (const j of walk.keys) {
    down();
    sheet.label(walk.label(j), "--key", { weight: j === chosen ? 650 : 400 });
    sheet.cells(walk.keyOf(j), ends.keys);
  }

  sheet.heading(3, page.say("steps.products"), `1 × ${head.D} → 1`);
  const parts = products(head, walk.token, chosen);
  const end = parts.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  down();
  sheet.label(walk.word, "--query");
  sheet.cells(walk.query, ends.query);
  down();
  sheet.label(`× ${walk.label(chosen)}`, "--key");
  sheet.cells(walk.keyOf(chosen), ends.keys);
  down();
  sheet.label(`= ${page.say("steps.product")}`, "--text");
  sheet.cells(parts, end);
  sheet.number(WIDE, running(parts).at(-1));

  sheet.heading("4–7", page.say("steps.scores"), `1 × ${head.M}`);
  down();
  const columns = [260, 380, 500, 620, 740];
  ["q·k", scaleName(walk), page.say("steps.mask"), "eˣ", page.say("steps.softmax")].forEach((name, at) =>
    sheet.text(columns[at], name, { kind: "--quiet", size: 12.5, anchor: "end" }),
  );
  for (const j of walk.keys) {
    down();
    sheet.label(walk.label(j), "--key");
    [now.scores[j], now.scaled[j], now.masked[j], now.exponentials[j]].forEach((value, at) => sheet.number(columns[at], value));
    sheet.number(columns[4], now.weights[j], { kind: "--weight", digits: 4, weight: 600 });
    const room = WIDE - 760;
    sheet.box(760, sheet.y - 10, Number((room * now.weights[j]).toFixed(2)), 11, colour("--weight"));
    if (walk.changed) sheet.box(760, sheet.y - 11, Number((room * before.weights[j]).toFixed(2)), 13, "none", { stroke: colour("--weight"), "stroke-dasharray": "3 2" });
  }
  const more = () => {
    if (!walk.rest.count) return;
    down();
    sheet.text(0, page.say("steps.more.share", { count: walk.rest.count, share: figure(walk.rest.weight, 4) }), { kind: "--quiet", size: 12.5 });
  };
  more();

  if (head.v) {
    sheet.heading(8, page.say("steps.values"), `V: ${head.M} × ${head.E} → 1 × ${head.E}`);
    const middle = (LEFT + 70 + RIGHT) / 2;
    for (const j of walk.keys) {
      down();
      sheet.label(walk.label(j), "--value");
      sheet.number(LEFT + 56, now.weights[j], { kind: "--weight" });
      sheet.cells(walk.valueOf(j), ends.values, LEFT + 70, middle - 6);
      sheet.cells(walk.passedOn(j), ends.taken, middle + 6, RIGHT);
    }
    more();
    down(ROW + 8);
    sheet.label(`Σ ${page.say("steps.output")}`, "--text", { weight: 600 });
    sheet.cells(now.output, ends.taken, middle + 6, RIGHT, 22);
    if (walk.changed) {
      down();
      sheet.label(page.say("steps.before"), "--quiet");
      sheet.cells(before.output, ends.taken, middle + 6, RIGHT, 9);
    }
  }
  const [width, height] = [WIDE + 40, sheet.y + 40];
  const svg = shape(
    "svg",
    { viewBox: `-20 -10 ${width} ${height}`, width, height, "font-family": "system-ui, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif" },
    shape("rect", { x: -20, y: -10, width, height, fill: colour("--ground") }),
    sheet.parts,
  );
  return new XMLSerializer().serializeToString(svg);
};
