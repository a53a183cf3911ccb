// Steps 1 to 3 and 8 of the steps view: vectors, coordinate by coordinate.

import { tint } from "./colour.js";
import { element, phrase } from "./dom.js";
import { length, products, running } from "./formula.js";
import { figure } from "./labels.js";
import { bars, climb, strip } from "./strips.js";
import { endsOf } from "./walk.js";

/** A number as it is shown, with all of its digits for those who point at it or copy it. */
export const datum = (value, digits = 3) =>
  element("data", { class: "number", value: String(value), title: String(Number(value.toPrecision(8))) }, figure(value, digits));

/** A step: its number and name, its shape, what it is in one line, and what is seen of it. */
export const step = (page, nth, title, shape, why, ...content) => {
  const id = `${page.id}-step-${nth}`;
  return element(
    "section",
    { class: "step", "aria-labelledby": id, "data-step": nth },
    element(
      "header",
      {},
      element("h3", { id }, element("span", { class: "nth" }, nth), " ", title),
      element("span", { class: "shape" }, shape),
      element("p", { class: "why" }, why),
    ),
    ...content,
  );
};

const legend = (page, end) => {
  const stops = [-1, -0.5, 0, 0.5, 1].map((share) => tint(share, page.dark)).join(", ");
  return element(
    "span",
    { class: "legend", "aria-hidden": "true" },
    figure(-end, 2), element("i", { style: { background: `linear-gradient(to right, ${stops})` } }), figure(end, 2),
  );
};

const word = (text, kind) => element("bdi", { class: `word ${kind}` }, text);

const row = (label, content, number, attributes = {}) =>
  element("div", { ...attributes, class: `row ${attributes.class ?? ""}` }, element("div", { class: "label" }, label), content, number);

// Makes of a strip something that arrow keys read coordinate by coordinate.
const read = (room, space, name, focus) => ({
  tabindex: 0, role: "slider", "aria-label": name, "aria-valuemin": 1, "aria-valuemax": room.reading[space].of, "data-focus": focus,
});

// Above strips: the colour scale, and which coordinate the numbers beside them are of.
const heads = (room, end) =>
  element("div", { class: "row heads" }, element("span"), legend(room.page, end), room.which("match"));

/** Step 1: the query. */
export const queryStep = (room) => {
  const { page, walk, canvases } = room;
  const { query, head } = walk;
  const end = endsOf(walk).query;
  const name = page.say("steps.query.of", { word: walk.word });
  return step(
    page, 1, page.say("steps.query"), shape("q", 1, head.D), phrase(page.say("steps.query.why"), { word: word(walk.word, "query"), count: String(head.D) }),
    heads(room, end),
    row(
      word(walk.word, "query"),
      strip(canvases, { space: "match", values: query, end, dark: page.dark, name, attributes: read(room, "match", name, "query-strip") }),
      room.tell("match", (at) => query[at]),
    ),
  );
};

const shape = (letter, rows, columns) => `${letter}: ${rows} × ${columns}`;

/** Step 2: the keys, of which one is chosen, and any can be taken out. */
export const keysStep = (room) => {
  const { page, walk, canvases } = room;
  const end = endsOf(walk).keys;
  const rows = walk.keys.map((j) => {
    const key = walk.keyOf(j);
    const [chosen, out] = [j === walk.key, walk.removed.has(j)];
    const inside = element("input", {
      type: "checkbox", tabindex: chosen ? 0 : -1, "aria-label": page.say("steps.takes.part", { word: walk.label(j) }), "data-focus": `part-${j}`,
      on: { change: () => room.remove(j) },
    });
    inside.checked = !out;
    const radio = element(
      "button",
      { type: "button", role: "radio", "aria-checked": String(chosen), tabindex: chosen ? 0 : -1, on: { click: () => room.choose(j) } },
      element("span", { class: "place" }, j + 1), word(walk.label(j), walk.aside(j) ? "key aside" : "key"),
    );
    return row(
      [inside, radio],
      strip(canvases, { space: "match", values: key, end, dark: page.dark, name: page.say("steps.key.of", { word: walk.label(j) }) }),
      room.tell("match", (at) => key[at]),
      { class: out ? "out" : walk.now.seen[j] ? "" : "unseen-key", "data-key": j },
    );
  });
  return step(
    page, 2, page.say("steps.keys"), shape("K", walk.head.M, walk.head.D), page.say("steps.keys.why"),
    heads(room, end),
    element("div", { class: "rows", role: "radiogroup", "aria-label": page.say("steps.keys"), "data-focus": "keys" }, rows),
    room.rest(),
  );
};

/** Step 3: the products of the query and one key, and their sum so far. */
export const productsStep = (room, j) => {
  const { page, walk, canvases } = room;
  const ends = endsOf(walk);
  const key = walk.keyOf(j);
  const values = products(walk.head, walk.token, j);
  const sums = running(values);
  const score = sums.at(-1);
  const [query, other] = [word(walk.word, "query"), word(walk.label(j), "key")];
  const top = [...values.keys()].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a])).slice(0, 3);
  const list = top.map((d) => `${d + 1} (${signed(values[d])})`).join(", ");
  const line = (label, drawn, numbers, attributes) => row(label, drawn, room.tell("match", (at) => numbers[at]), attributes);
  const common = { space: "match", dark: page.dark, colour: room.colour };
  return step(
    page, 3, page.say("steps.products"), `1 × ${walk.head.D} → 1`,
    phrase(page.say("steps.products.why"), { query: query.cloneNode(true), key: other.cloneNode(true) }),
    element("div", { class: "row heads" }, element("span"), element("span"), room.which("match")),
    line(query, strip(canvases, { ...common, values: walk.query, end: ends.query, name: page.say("steps.query.of", { word: walk.word }) }), walk.query),
    line([element("span", { class: "sign" }, "×"), other], strip(canvases, { ...common, values: key, end: ends.keys, name: page.say("steps.key.of", { word: walk.label(j) }) }), key),
    line(
      [element("span", { class: "sign" }, "="), page.say("steps.product")],
      bars(canvases, { ...common, values, name: page.say("steps.products"), attributes: read(room, "match", page.say("steps.products"), "products-strip") }),
      values,
    ),
    line([element("span", { class: "sign" }, "Σ"), page.say("steps.so.far")], climb(canvases, { ...common, values: sums, name: page.say("steps.so.far") }), sums),
    element("p", { class: "sum" }, phrase(page.say("steps.products.most"), {
      list, key: word(walk.label(j), "key"), score: datum(score),
    })),
    numbersOf(page, "products", [page.say("steps.coordinate"), "q", "k", "q × k", page.say("steps.so.far")], () =>
      Array.from(values, (value, d) => [d + 1, walk.query[d], key[d], value, sums[d]]),
    ),
  );
};

/** A number with its sign. */
export const signed = (value, digits = 3) => `${value > 0 ? "+" : ""}${figure(value, digits)}`;

/** A table of numbers that is made when it is opened: of many coordinates there are many cells. */
const numbersOf = (page, name, columns, rows) => {
  const body = element("div", { class: "scroll" });
  const details = element("details", { class: "numbers", "data-table": name }, element("summary", { "data-focus": `numbers-${name}`, tabindex: 0 }, page.say("steps.numbers")), body);
  details.addEventListener("toggle", () => {
    if (!details.open || body.firstChild) return;
    body.append(
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, columns.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, rows().map(([head, ...values]) =>
          element("tr", {}, element("th", { scope: "row" }, head), values.map((value) => element("td", {}, datum(value, 4)))),
        )),
      ),
    );
  });
  return details;
};

/** Step 8: the values, times their weights, and their sum. */
export const valuesStep = (room) => {
  const { page, walk, canvases } = room;
  const { head, now, before } = walk;
  const why = phrase(page.say("steps.values.why"), { word: word(walk.word, "query") });
  if (!head.v) {
    return step(page, 8, page.say("steps.values"), shape("V", head.M, "?"), why, element("p", { class: "missing" }, page.say("steps.values.none")));
  }
  const ends = endsOf(walk);
  const common = { space: "pass", dark: page.dark };
  const rows = walk.keys.map((j) => {
    const [value, taken] = [walk.valueOf(j), walk.passedOn(j)];
    return element(
      "div",
      { class: `row ${walk.removed.has(j) ? "out" : now.seen[j] ? "" : "unseen-key"}`, "data-key": j },
      element("div", { class: "label" }, element("span", { class: "place" }, j + 1), word(walk.label(j), walk.aside(j) ? "value aside" : "value")),
      element("span", { class: "times" }, datum(now.weights[j]), " ×"),
      strip(canvases, { ...common, values: value, end: ends.values, name: page.say("steps.value.of", { word: walk.label(j) }) }),
      strip(canvases, { ...common, values: taken, end: ends.taken, name: page.say("steps.taken.of", { word: walk.label(j) }) }),
      room.tell("pass", (at) => taken[at]),
    );
  });
  const sum = (output, name, kind, told) =>
    element(
      "div",
      { class: `row ${kind}` },
      element("div", { class: "label" }, name),
      element("span", { class: "times" }),
      element("span", { class: "blank" }),
      strip(canvases, { ...common, values: output, end: ends.taken, name: page.say("steps.output.of", { word: walk.word }), attributes: told }),
      room.tell("pass", (at) => output[at]),
    );
  const name = page.say("steps.output.of", { word: walk.word });
  return step(
    page, 8, page.say("steps.values"), `${shape("V", head.M, head.E)} → 1 × ${head.E}`, why,
    element("div", { class: "rows values" },
      element("div", { class: "row heads" },
        element("span"), element("span", { class: "times" }, page.say("steps.weight")), element("span", {}, page.say("steps.value"), legend(page, ends.values)),
        element("span", {}, page.say("steps.taken"), legend(page, ends.taken)), room.which("pass")),
      rows,
      room.rest(),
      sum(now.output, [element("span", { class: "sign" }, "Σ"), page.say("steps.output")], "total", read(room, "pass", name, "output-strip")),
      walk.changed ? sum(before.output, page.say("steps.before"), "ghost") : null,
    ),
    element("p", { class: "sum" }, ...outcome(room)),
    numbersOf(page, "output", [page.say("steps.coordinate"), page.say("steps.output"), ...(walk.changed ? [page.say("steps.before")] : [])], () =>
      Array.from(now.output, (value, e) => [e + 1, value, ...(walk.changed ? [before.output[e]] : [])]),
    ),
  );
};

// What has come out, in a sentence.
const outcome = ({ page, walk }) => {
  const { now, before } = walk;
  if (now.sum === 0) return [page.say("steps.output.nothing", { count: walk.head.E })];
  const said = phrase(page.say("steps.output.length"), { word: word(walk.word, "query"), length: datum(length(now.output)) });
  if (!walk.changed) return said;
  const moved = length(now.output.map((value, e) => value - before.output[e]));
  return [...said, " ", ...phrase(page.say("steps.output.moved"), { moved: datum(moved), length: datum(length(before.output)) })];
};
