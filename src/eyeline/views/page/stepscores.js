// Steps 4 to 7 of the steps view: from q·k to weights, a row per key and a column per step.

import { element, phrase } from "./dom.js";
import { figure, percent } from "./labels.js";
import { datum } from "./stepvectors.js";
import { most } from "./strips.js";
import { scaling } from "./walk.js";

// A bar from where nothing is, over a track that reaches from the least to the most of a column.
const bar = (value, [low, high], kind) => {
  const span = high - low || 1;
  const [from, to] = [(Math.min(value, 0) - low) / span, (Math.max(value, 0) - low) / span];
  return element("i", { class: `bar ${kind}`, style: { left: `${100 * from}%`, width: `${100 * (to - from)}%` } });
};

const track = (...inside) => element("span", { class: "track", "aria-hidden": "true" }, inside);

// The least and the most of numbers that are finite, nothing among them.
const reach = (...lists) => {
  const all = lists.flatMap((list) => Array.from(list)).filter(Number.isFinite);
  return [Math.min(0, ...all), Math.max(0, ...all)];
};

/** What a number of the scaling step is called: "÷ √32", "× 0.5", "× 1". */
export const scaleName = (walk) => {
  const how = scaling(walk, walk.now.scale);
  return how === "divided" ? `÷ √${walk.head.D}` : how === "plain" ? "× 1" : `× ${figure(walk.now.scale, 4)}`;
};

// Why the query doesn't look at a key, or nothing.
const hindrance = ({ page, walk }, j) => {
  if (walk.now.seen[j]) return null;
  if (walk.removed.has(j)) return page.say("steps.taken.out");
  return page.say(walk.before.seen[j] ? "steps.is.ahead" : "steps.not.allowed");
};

// The head of each column: the step's number, its name, and what it is in one line.
const columnsOf = ({ page, walk }) => {
  const { now, head } = walk;
  const how = scaling(walk, now.scale);
  const root = Math.sqrt(head.D);
  const whySo = {
    divided: () => page.say("steps.scale.divided", { d: head.D, root: figure(root, 3) }),
    times: () => page.say("steps.scale.times", { scale: figure(now.scale, 4) }),
    plain: () => page.say(walk.before.scale === 1 ? "steps.scale.never" : "steps.scale.plain"),
  }[how]();
  const hidden = now.seen.some((seen) => !seen);
  return [
    ["4", "q·k", page.say("steps.score.why")],
    ["5", scaleName(walk), whySo],
    ["6", page.say("steps.mask"), page.say(hidden ? "steps.mask.why" : "steps.mask.none")],
    ["7", "eˣ", now.sum === 0 ? page.say("steps.exp.none") : page.say("steps.exp.why", { top: figure(now.top, 3) })],
    ["", page.say("steps.softmax"), page.say("steps.softmax.why")],
  ];
};

/** Steps 4 to 7. */
export const scoresStep = (room) => {
  const { page, walk } = room;
  const { now, before, keys, head } = walk;
  const columns = columnsOf(room);
  const pick = (list) => keys.map((j) => list[j]);
  const scores = reach(pick(now.scores), pick(now.scaled));
  const ceiling = most(pick(now.weights), pick(before.weights)) || 1;
  const line = (j) => {
    const why = hindrance(room, j);
    const [weight, was] = [now.weights[j], before.weights[j]];
    return element(
      "tr",
      { "data-key": j, class: walk.removed.has(j) ? "out" : null },
      element("th", { scope: "row" }, element("span", { class: "place" }, j + 1), " ", element("bdi", { class: walk.aside(j) ? "word key aside" : "word key" }, walk.label(j))),
      element("td", {}, datum(now.scores[j]), track(bar(now.scores[j], scores, "plain"))),
      element("td", {}, datum(now.scaled[j]), track(bar(now.scaled[j], scores, "plain"))),
      element("td", { class: why ? "hindered" : null }, why ? [element("data", { class: "number", value: "-Infinity" }, "−∞"), element("small", {}, why)] : datum(now.masked[j])),
      element("td", {}, datum(now.exponentials[j]), track(bar(now.exponentials[j], [0, 1], "weight"))),
      element(
        "td",
        { class: "weights" },
        datum(weight, 4),
        walk.changed ? element("small", {}, page.say("steps.was", { before: percent(was), now: percent(weight) })) : null,
        track(walk.changed ? bar(was, [0, ceiling], "ghost") : null, bar(weight, [0, ceiling], "weight")),
      ),
    );
  };
  const rest = walk.rest.count
    ? element("tr", { class: "rest" },
        element("th", { scope: "row", colspan: 5 }, page.say("steps.more", { count: walk.rest.count })), element("td", { class: "weights" }, datum(walk.rest.weight, 4)))
    : null;
  const sum = element(
    "tr",
    { class: "total" },
    element("th", { scope: "row" }, page.say("steps.sum")),
    element("td"), element("td"), element("td"),
    element("td", {}, datum(now.sum)),
    element("td", { class: "weights" }, datum(now.weights.reduce((total, weight) => total + weight, 0), 4)),
  );
  const id = `${page.id}-step-4`;
  return element(
    "section",
    { class: "step", "aria-labelledby": id, "data-step": 4 },
    element("header", {},
      element("h3", { id }, element("span", { class: "nth" }, "4–7"), " ", page.say("steps.scores")),
      element("span", { class: "shape" }, `1 × ${head.M}`),
      element("p", { class: "why" }, phrase(page.say("steps.scores.why"), { word: element("bdi", { class: "word query" }, walk.word) })),
    ),
    element("ol", { class: "whys" }, columns.filter(([, , why]) => why).map(([nth, name, why]) =>
      element("li", {}, element("b", {}, nth ? `${nth} ` : "", name), " ", why))),
    element("div", { class: "scroll" },
      element(
        "table",
        { class: "scores" },
        element("thead", {}, element("tr", {},
          element("td", {}),
          columns.map(([nth, name, why]) => element("th", { scope: "col" },
            nth ? [element("span", { class: "nth" }, nth), " "] : null, element("span", { class: "name" }, name), element("span", { class: "why" }, why))),
        )),
        element("tbody", {}, keys.map(line), rest),
        element("tfoot", {}, sum),
      ),
    ),
    now.sum === 0 ? element("p", { class: "missing" }, phrase(page.say("steps.nothing"), { word: element("bdi", { class: "word query" }, walk.word) })) : null,
  );
};
