// Steps 3 and 4 of the steps view: scores scaled and masked, then softmax: a row for each key.

import { element, phrase } from "../drawing/dom.js";
import { figure, percent } from "../drawing/labels.js";
import { most } from "../drawing/vector_strips.js";
import { scaleEnd } from "../weights/quantity.js";
import { datum, step, word } from "./elements.js";
import { scaling } from "./walkthrough.js";

/**
 * A bar from zero, over a track from the smallest to the largest number of a column.
 * @type {(value: number, ends: [low: number, high: number], kind: string) => HTMLElement}
 */
export const bar = (value, [low, high], kind) => {
  const span = high - low || 1;
  const [from, to] = [(Math.min(value, 0) - low) / span, (Math.max(value, 0) - low) / span];
  const style = { left: `${100 * from}%`, width: `${100 * (to - from)}%` };
  return element("i", { class: `bar painted ${kind}`, style });
};

/** The track of bars. @type {(...inside: Child[]) => HTMLElement} */
export const track = (...inside) => element("span", { class: "track", "aria-hidden": "true" }, inside);

/**
 * The smallest and the largest of the finite numbers and 0.
 * @type {(...lists: number[][]) => [low: number, high: number]}
 */
const reach = (...lists) => {
  const all = lists.flat().filter(Number.isFinite);
  return [Math.min(0, ...all), Math.max(0, ...all)];
};

/** The name of the scaling step: "÷ √32", "× 0.5", "× 1". @type {(walk: Walkthrough) => string} */
export const scaleName = (walk) => {
  const how = scaling(walk, walk.now.scale);
  return how === "divided" ? `÷ √${walk.head.D}` : how === "plain" ? "× 1" : `× ${figure(walk.now.scale, 4)}`;
};

/** @type {(room: StepsRoom) => string} */
const scaleWhy = ({ page, walk }) => {
  const { now, before, head } = walk;
  const how = scaling(walk, now.scale);
  if (how === "divided") return page.say("steps.scale.divided", { d: head.D, root: figure(Math.sqrt(head.D)) });
  if (how === "times") return page.say("steps.scale.times", { scale: figure(now.scale, 4) });
  return page.say(before.scale === 1 ? "steps.scale.never" : "steps.scale.plain");
};

/**
 * The reason why the query doesn't look at a key; null if it does.
 * @type {(room: StepsRoom, j: number) => string | null}
 */
const hindrance = ({ page, walk }, j) => {
  if (walk.now.seen[j]) return null;
  if (walk.removed.has(j)) return page.say("steps.taken.out");
  if (walk.before.seen[j] && j >= walk.head.M - walk.padded) return page.say("steps.is.padding");
  return page.say(walk.before.seen[j] ? "steps.is.ahead" : "steps.not.allowed");
};

/** A column: its name, and what it is. @typedef {[name: string, why: string]} Column */

/** The heading cells of a table. @type {(columns: Column[], page: Page) => HTMLElement} */
const heading = (columns, page) =>
  element(
    "thead",
    {},
    element(
      "tr",
      {},
      element("th", { scope: "col" }, element("span", { class: "unseen" }, page.say("steps.keys"))),
      columns.map(([name, why]) => {
        const inside = [element("span", { class: "name" }, name), element("span", { class: "why" }, why)];
        return element("th", { scope: "col" }, inside);
      }),
    ),
  );

/** The row of a key. @type {(room: StepsRoom, j: number, cells: HTMLElement[]) => HTMLElement} */
const keyLine = ({ walk }, j, cells) =>
  element(
    "tr",
    { "data-key": j, class: walk.removed.has(j) ? "out" : null },
    element(
      "th",
      { scope: "row" },
      element("span", { class: "place" }, j),
      " ",
      word(walk.label(j), walk.aside(j) ? "key aside" : "key"),
    ),
    cells,
  );

/** @type {(columns: Column[]) => HTMLElement} */
const beside = (columns) =>
  element("ul", { class: "whys" }, columns.map(([name, why]) => element("li", {}, element("b", {}, name), " ", why)));

/**
 * A table of keys.
 * @type {(room: StepsRoom, kind: string, columns: Column[], lines: HTMLElement[], foot?: Child) => Child[]}
 */
const table = ({ page }, kind, columns, lines, foot = null) => [
  beside(columns), // for narrow pages, whose columns have no room for the explanations
  element(
    "div",
    { class: "scroll" },
    element("table", { class: `scores ${kind}` }, heading(columns, page), element("tbody", {}, lines), foot),
  ),
];

/** Step 3: scaled and masked. @type {(room: StepsRoom) => HTMLElement} */
export const scaledStep = (room) => {
  const { page, walk } = room;
  const { now, keys, head } = walk;
  /** @type {(list: Float64Array) => number[]} */
  const pick = (list) => keys.map((j) => list[j]);
  const ends = reach(pick(now.scores), pick(now.scaled));
  const hidden = now.seen.some((seen) => !seen);
  /** @type {Column[]} */
  const columns = [
    ["q·k", page.say("steps.score.why")],
    [scaleName(walk), scaleWhy(room)],
    [page.say("steps.mask"), page.say(hidden ? "steps.mask.why" : "steps.mask.none")],
  ];
  const lines = keys.map((j) => {
    const why = hindrance(room, j);
    return keyLine(room, j, [
      element("td", {}, datum(now.scores[j], 3, { from: `score-${j}` }), track(bar(now.scores[j], ends, "plain"))),
      element("td", {}, datum(now.scaled[j]), track(bar(now.scaled[j], ends, "plain"))),
      element(
        "td",
        { class: why ? "hindered" : null },
        datum(now.masked[j], 3, { to: `masked-${j}` }),
        why ? element("small", {}, why) : null,
      ),
    ]);
  });
  const title = page.say("steps.name.3", { scale: scaleName(walk) });
  const scale = page.say("steps.bars", { low: figure(ends[0], 1), high: figure(ends[1], 1) });
  return step(
    page,
    { nth: "3", title, shape: `1 × ${head.M}`, why: page.say("steps.scaled.why") },
    table(room, "of-scaled", columns, lines),
    room.rest(),
    element("p", { class: "quiet" }, scale),
  );
};

/** @type {(room: StepsRoom, j: number, end: number) => HTMLElement} */
const weightCell = ({ page, walk }, j, end) => {
  const [weight, was] = [walk.now.weights[j], walk.before.weights[j]];
  const change = { before: percent(was), now: percent(weight) };
  return element(
    "td",
    { class: "weights" },
    datum(weight, 4, { to: `weight-${j}` }),
    walk.changed ? element("small", {}, page.say("steps.was", change)) : null,
    track(walk.changed ? bar(was, [0, end], "ghost") : null, bar(weight, [0, end], "weight")),
  );
};

/** @type {(room: StepsRoom) => HTMLElement | null} */
const restLine = ({ page, walk: { rest } }) => {
  if (!rest.count) return null;
  const name = element("th", { scope: "row", colspan: 2 }, page.say("steps.more", { count: rest.count }));
  return element("tr", { class: "rest" }, name, element("td", { class: "weights" }, datum(rest.weight, 4)));
};

/** @type {(room: StepsRoom) => HTMLElement} */
const sums = ({ page, walk }) =>
  element(
    "tfoot",
    {},
    element(
      "tr",
      { class: "total" },
      element("th", { scope: "row" }, page.say("steps.sum")),
      element("td", {}, datum(walk.now.sum)),
      element("td", { class: "weights" }, datum(walk.now.weights.reduce((total, weight) => total + weight, 0), 4)),
    ),
  );

/** Step 4: softmax. @type {(room: StepsRoom) => HTMLElement} */
export const softmaxStep = (room) => {
  const { page, walk } = room;
  const { now, before, keys, head } = walk;
  /** @type {(list: Float64Array) => number[]} */
  const pick = (list) => keys.map((j) => list[j]);
  const end = scaleEnd([most(pick(now.weights), pick(before.weights))]);
  /** @type {Column[]} */
  const columns = [
    ["eˣ", now.sum === 0 ? page.say("steps.exp.none") : page.say("steps.exp.why", { top: figure(now.top) })],
    [page.say("steps.softmax"), page.say("steps.softmax.why", { end: percent(end) })],
  ];
  const lines = keys.map((j) =>
    keyLine(room, j, [
      element(
        "td",
        {},
        datum(now.exponentials[j], 3, { from: `masked-${j}` }),
        track(bar(now.exponentials[j], [0, 1], "plain")),
      ),
      weightCell(room, j, end),
    ]),
  );
  const named = () => ({ word: word(walk.word, "query") }); // an element is in one place only
  const [rest, why] = [restLine(room), phrase(page.say("steps.scores.why"), named())];
  return step(
    page,
    { nth: "4", title: page.say("steps.name.4"), shape: `1 × ${head.M}`, why },
    table(room, "of-softmax", columns, rest ? [...lines, rest] : lines, sums(room)),
    now.sum === 0 ? element("p", { class: "missing" }, phrase(page.say("steps.nothing"), named())) : null,
  );
};
