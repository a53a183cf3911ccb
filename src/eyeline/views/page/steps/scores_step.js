// Steps 4 to 7 of the steps view: from q·k to weights, a row per key and a column per step.

import { element, phrase } from "../drawing/dom.js";
import { figure, percent } from "../drawing/labels.js";
import { datum, step, word } from "./elements.js";
import { most } from "../drawing/vector_strips.js";
import { scaling } from "./walkthrough.js";

// A bar from zero, over a track from the smallest to the largest number of a column.
/** @type {(value: number, ends: [low: number, high: number], kind: string) => HTMLElement} */
const bar = (value, [low, high], kind) => {
  const span = high - low || 1;
  const [from, to] = [(Math.min(value, 0) - low) / span, (Math.max(value, 0) - low) / span];
  return element("i", { class: `bar ${kind}`, style: { left: `${100 * from}%`, width: `${100 * (to - from)}%` } });
};

/** @type {(...inside: Child[]) => HTMLElement} */
const track = (...inside) => element("span", { class: "track", "aria-hidden": "true" }, inside);

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
 * The steps: number, name, and a one-line explanation of each.
 * @type {(room: StepsRoom) => [nth: string, name: string, why: string][]}
 */
const columnsOf = (room) => {
  const { page, walk } = room;
  const { now } = walk;
  const hidden = now.seen.some((seen) => !seen);
  const top = { top: figure(now.top) };
  return [
    ["4", "q·k", page.say("steps.score.why")],
    ["5", scaleName(walk), scaleWhy(room)],
    ["6", page.say("steps.mask"), page.say(hidden ? "steps.mask.why" : "steps.mask.none")],
    ["7", "eˣ", now.sum === 0 ? page.say("steps.exp.none") : page.say("steps.exp.why", top)],
    ["", page.say("steps.softmax"), page.say("steps.softmax.why")],
  ];
};

/**
 * The reason why the query doesn't look at a key; null if it does.
 * @type {(room: StepsRoom, j: number) => string | null}
 */
const hindrance = ({ page, walk }, j) => {
  if (walk.now.seen[j]) return null;
  if (walk.removed.has(j)) return page.say("steps.taken.out");
  return page.say(walk.before.seen[j] ? "steps.is.ahead" : "steps.not.allowed");
};

/** @type {(room: StepsRoom, j: number) => HTMLElement} */
const maskCell = (room, j) => {
  const why = hindrance(room, j);
  if (!why) return element("td", {}, datum(room.walk.now.masked[j]));
  return element("td", { class: "hindered" }, datum(-Infinity), element("small", {}, why));
};

/** @type {(room: StepsRoom, j: number, ceiling: number) => HTMLElement} */
const weightCell = ({ page, walk }, j, ceiling) => {
  const [weight, was] = [walk.now.weights[j], walk.before.weights[j]];
  const change = { before: percent(was), now: percent(weight) };
  return element(
    "td",
    { class: "weights" },
    datum(weight, 4),
    walk.changed ? element("small", {}, page.say("steps.was", change)) : null,
    track(walk.changed ? bar(was, [0, ceiling], "ghost") : null, bar(weight, [0, ceiling], "weight")),
  );
};

/** @type {(room: StepsRoom, j: number, ends: { scores: [number, number], ceiling: number }) => HTMLElement} */
const keyLine = (room, j, { scores, ceiling }) => {
  const { walk } = room;
  const { now } = walk;
  return element(
    "tr",
    { "data-key": j, class: walk.removed.has(j) ? "out" : null },
    element(
      "th",
      { scope: "row" },
      element("span", { class: "place" }, j + 1),
      " ",
      word(walk.label(j), walk.aside(j) ? "key aside" : "key"),
    ),
    element("td", {}, datum(now.scores[j]), track(bar(now.scores[j], scores, "plain"))),
    element("td", {}, datum(now.scaled[j]), track(bar(now.scaled[j], scores, "plain"))),
    maskCell(room, j),
    element("td", {}, datum(now.exponentials[j]), track(bar(now.exponentials[j], [0, 1], "weight"))),
    weightCell(room, j, ceiling),
  );
};

/** @type {(room: StepsRoom) => HTMLElement | null} */
const restLine = ({ page, walk: { rest } }) => {
  if (!rest.count) return null;
  const name = element("th", { scope: "row", colspan: 5 }, page.say("steps.more", { count: rest.count }));
  return element("tr", { class: "rest" }, name, element("td", { class: "weights" }, datum(rest.weight, 4)));
};

/** @type {(room: StepsRoom) => HTMLElement} */
const sumLine = ({ page, walk }) =>
  element(
    "tr",
    { class: "total" },
    element("th", { scope: "row", colspan: 4 }, page.say("steps.sum")),
    element("td", {}, datum(walk.now.sum)),
    element("td", { class: "weights" }, datum(walk.now.weights.reduce((total, weight) => total + weight, 0), 4)),
  );

/** Steps 4 to 7. @type {(room: StepsRoom) => HTMLElement} */
export const scoresStep = (room) => {
  const { page, walk } = room;
  const { now, before, keys, head } = walk;
  /** @type {(list: Float64Array) => number[]} */
  const pick = (list) => keys.map((j) => list[j]);
  const scores = reach(pick(now.scores), pick(now.scaled));
  const ceiling = most(pick(now.weights), pick(before.weights)) || 1;
  const columns = columnsOf(room);
  /** @type {(column: [nth: string, name: string, why: string]) => HTMLElement} */
  const header = ([nth, name, why]) =>
    element(
      "th",
      { scope: "col" },
      nth ? [element("span", { class: "nth" }, nth), " "] : null,
      element("span", { class: "name" }, name),
      element("span", { class: "why" }, why),
    );
  /** @type {(column: [nth: string, name: string, why: string]) => HTMLElement} */
  const beside = ([nth, name, why]) => element("li", {}, element("b", {}, `${nth} ${name}`), " ", why);
  const nothing = phrase(page.say("steps.nothing"), { word: word(walk.word, "query") });
  const why = phrase(page.say("steps.scores.why"), { word: word(walk.word, "query") });
  return step(
    page,
    { nth: "4–7", title: page.say("steps.scores"), shape: `1 × ${head.M}`, why },
    // for narrow pages, whose columns have no room for the explanations
    element("ol", { class: "whys" }, columns.map(beside)),
    element(
      "div",
      { class: "scroll" },
      element(
        "table",
        { class: "scores" },
        element("thead", {}, element("tr", {}, element("td"), columns.map(header))),
        element("tbody", {}, keys.map((j) => keyLine(room, j, { scores, ceiling })), restLine(room)),
        element("tfoot", {}, sumLine(room)),
      ),
    ),
    now.sum === 0 ? element("p", { class: "missing" }, nothing) : null,
  );
};
