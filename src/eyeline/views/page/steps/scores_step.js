// Step 2 of the steps view: the query, the keys, the products of the query and one of them, and the scores.

import { element, phrase } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { bars, climb, strip } from "../drawing/vector_strips.js";
import { datum, heads, numbersOf, row, sign, sized, slider, step, word } from "./elements.js";
import { products, running } from "./formula.js";

/**
 * A part of the step, with a heading.
 * @type {(name: string, title: Child, shape: string, why: Child, ...content: Child[]) => HTMLElement}
 */
const part = (name, title, shape, why, ...content) =>
  element(
    "div",
    { class: "block", "data-block": name },
    element("h4", {}, title, element("span", { class: "shape" }, shape)),
    element("p", { class: "why" }, why),
    ...content,
  );

/** @type {(room: StepsRoom) => HTMLElement} */
const queryBlock = (room) => {
  const { page, walk, ends } = room;
  const { query, head } = walk;
  const name = page.say("steps.query.of", { word: walk.word });
  const why = phrase(page.say("steps.query.why"), { word: word(walk.word, "query"), count: String(head.D) });
  const attributes = slider(room, "match", name, "query-strip");
  return part(
    "query", page.say("steps.query"), sized("q", 1, head.D), why,
    heads(room, ends.query),
    row(
      word(walk.word, "query"),
      strip(room, { space: "match", values: query, end: ends.query, name, attributes }),
      room.tell("match", (at) => query[at]),
    ),
  );
};

/**
 * A key: a checkbox to remove it, a button to choose it, its strip, and its score.
 * @type {(room: StepsRoom, j: number) => HTMLElement}
 */
const keyRow = (room, j) => {
  const { page, walk, ends } = room;
  const [key, label] = [walk.keyOf(j), walk.label(j)];
  const [chosen, out] = [j === walk.key, walk.removed.has(j)];
  const tabindex = chosen ? 0 : -1;
  const inside = element("input", {
    type: "checkbox",
    tabindex,
    "aria-label": page.say("steps.takes.part", { word: label }),
    "data-focus": `part-${j}`,
    on: { change: () => room.remove(j) },
  });
  inside.checked = !out;
  const radio = element(
    "button",
    { type: "button", role: "radio", "aria-checked": String(chosen), tabindex, on: { click: () => room.choose(j) } },
    element("span", { class: "place" }, j),
    word(label, walk.aside(j) ? "key aside" : "key"),
  );
  return element(
    "div",
    { class: `row ${walk.kindOf(j)}`, "data-key": j },
    element("div", { class: "label" }, [inside, radio]),
    strip(room, { space: "match", values: key, end: ends.keys, name: page.say("steps.key.of", { word: label }) }),
    room.tell("match", (at) => key[at]),
    element("span", { class: "score" }, datum(walk.now.scores[j], 3, { to: `score-${j}` })),
  );
};

/** @type {(room: StepsRoom) => HTMLElement} */
const keysBlock = (room) => {
  const { page, walk, ends } = room;
  const title = page.say("steps.keys");
  const over = heads(room, ends.keys);
  over.append(element("span", { class: "score" }, "q·k"));
  return part(
    "keys", title, sized("K", walk.head.M, walk.head.D), page.say("steps.keys.why"),
    over,
    element(
      "div",
      { class: "rows", role: "radiogroup", "aria-label": title, "data-focus": "keys" },
      walk.keys.map((j) => keyRow(room, j)),
    ),
    room.rest(),
  );
};

/** @type {(value: number) => string} */
const signed = (value) => `${value > 0 ? "+" : ""}${figure(value)}`;

/** The coordinates with the largest part in a score. @type {(values: Float64Array) => string} */
const largest = (values) =>
  [...values.keys()]
    .sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]))
    .slice(0, 3)
    .map((at) => `${at} (${signed(values[at])})`)
    .join(", ");

/**
 * The products of the query and key j, and their running sum.
 * @type {(room: StepsRoom, j: number) => HTMLElement}
 */
export const productsBlock = (room, j) => {
  const { page, walk, ends } = room;
  const { head, query } = walk;
  const [key, label] = [walk.keyOf(j), walk.label(j)];
  const values = products(head, walk.token, j);
  const sums = running(values);
  const [title, soFar] = [page.say("steps.products"), page.say("steps.so.far")];
  /** @type {Space} */
  const space = "match";
  /** @type {(name: Child, drawn: HTMLElement, numbers: Numbers) => HTMLElement} */
  const line = (name, drawn, numbers) => row(name, drawn, room.tell("match", (at) => numbers[at]));
  const why = phrase(page.say("steps.products.why"), { query: word(walk.word, "query"), key: word(label, "key") });
  const told = { list: largest(values), key: word(label, "key"), score: datum(sums.at(-1) ?? 0) };
  return part(
    "products", title, `1 × ${head.D} → 1`, why,
    heads(room),
    line(
      word(walk.word, "query"),
      strip(room, { space, values: query, end: ends.query, name: page.say("steps.query.of", { word: walk.word }) }),
      query,
    ),
    line(
      [sign("×"), word(label, "key")],
      strip(room, { space, values: key, end: ends.keys, name: page.say("steps.key.of", { word: label }) }),
      key,
    ),
    line(
      [sign("="), page.say("steps.product")],
      bars(room, { space, values, name: title, attributes: slider(room, "match", title, "products-strip") }),
      values,
    ),
    line([sign("Σ"), soFar], climb(room, { space, values: sums, name: soFar }), sums),
    element("p", { class: "sum" }, phrase(page.say("steps.products.most"), told)),
    numbersOf(page, "products", [page.say("steps.coordinate"), "q", "k", "q × k", soFar], () =>
      Array.from(values, (value, d) => [d, query[d], key[d], value, sums[d]]),
    ),
  );
};

/** Step 2. @type {(room: StepsRoom) => HTMLElement} */
export const scoresStep = (room) => {
  const { page, walk } = room;
  const { D, M } = walk.head;
  const shape = `1 × ${D} · ${D} × ${M} → 1 × ${M}`;
  return step(
    page,
    { nth: "2", title: page.say("steps.name.2"), shape, why: page.say("steps.match.why") },
    queryBlock(room),
    keysBlock(room),
    productsBlock(room, walk.key),
    room.sources?.(walk),
  );
};
