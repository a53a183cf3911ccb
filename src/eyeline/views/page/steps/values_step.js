// Step 5 of the steps view: the values, times their weights, and their sum.

import { element, phrase } from "../drawing/dom.js";
import { scaleBar } from "../drawing/scale_bar.js";
import { datum, numbersOf, sign, sized, slider, step, word } from "./elements.js";
import { strip } from "../drawing/vector_strips.js";
import { lengthOf } from "../weights/projections.js";

/** @type {(room: StepsRoom) => HTMLElement} */
const headsOf = (room) => {
  const { page, ends } = room;
  /** @type {(end: number) => HTMLElement} */
  const scale = (end) => scaleBar(room, { end, signed: true, digits: 2 });
  return element(
    "div",
    { class: "row over" },
    element("span"),
    element("span", { class: "times" }, page.say("steps.weight")),
    element("span", { class: "named" }, page.say("steps.value"), scale(ends.values)),
    element("span", { class: "named" }, page.say("steps.taken"), scale(ends.taken)),
    room.which("pass"),
  );
};

/** @type {(room: StepsRoom, j: number) => HTMLElement} */
const valueRow = (room, j) => {
  const { page, walk, ends } = room;
  const label = walk.label(j);
  const [value, taken] = [walk.valueOf(j), walk.passedOn(j)];
  return element(
    "div",
    { class: `row ${walk.kindOf(j)}`, "data-key": j },
    element(
      "div",
      { class: "label" },
      element("span", { class: "place" }, j),
      word(label, walk.aside(j) ? "value aside" : "value"),
    ),
    element("span", { class: "times" }, datum(walk.now.weights[j], 3, { from: `weight-${j}` }), " ×"),
    strip(room, { space: "pass", values: value, end: ends.values, name: page.say("steps.value.of", { word: label }) }),
    strip(room, { space: "pass", values: taken, end: ends.taken, name: page.say("steps.taken.of", { word: label }) }),
    room.tell("pass", (at) => taken[at]),
  );
};

/**
 * @type {(room: StepsRoom, output: Float64Array, label: Child, kind: string, attributes?: Attributes) => HTMLElement}
 */
const sumRow = (room, output, label, kind, attributes) => {
  const name = room.page.say("steps.output.of", { word: room.walk.word });
  return element(
    "div",
    { class: `row ${kind}` },
    element("div", { class: "label" }, label),
    element("span", { class: "times" }),
    element("span"),
    strip(room, { space: "pass", values: output, end: room.ends.taken, name, attributes }),
    room.tell("pass", (at) => output[at]),
  );
};

// The output, in a sentence.
/** @type {(room: StepsRoom, output: Float64Array, before: Float64Array) => Child} */
const outcome = ({ page, walk }, output, before) => {
  if (walk.now.sum === 0) return page.say("steps.output.nothing", { count: walk.head.E });
  const ends = { word: word(walk.word, "query"), length: datum(lengthOf(output)) };
  const said = phrase(page.say("steps.output.length"), ends);
  if (!walk.changed) return said;
  const moved = lengthOf(output.map((value, e) => value - before[e]));
  const change = { moved: datum(moved), length: datum(lengthOf(before)) };
  return [said, " ", phrase(page.say("steps.output.moved"), change)];
};

/** Step 5. @type {(room: StepsRoom) => HTMLElement} */
export const valuesStep = (room) => {
  const { page, walk } = room;
  const { head, now, before, changed } = walk;
  const [mixed, was] = [now.output, before.output];
  const title = page.say("steps.name.5");
  const why = phrase(page.say("steps.values.why"), { word: word(walk.word, "query") });
  if (!mixed || !was) {
    const missing = element("p", { class: "missing" }, page.say("steps.values.none"));
    return step(page, { nth: "5", title, shape: "", why }, missing);
  }
  const name = page.say("steps.output.of", { word: walk.word });
  const [output, earlier] = [page.say("steps.output"), page.say("steps.before")];
  const told = slider(room, "pass", name, "output-strip");
  return step(
    page,
    { nth: "5", title, shape: `${sized("V", head.M, head.E)} → 1 × ${head.E}`, why },
    element(
      "div",
      { class: "rows values" },
      headsOf(room),
      walk.keys.map((j) => valueRow(room, j)),
      room.rest(),
      sumRow(room, mixed, [sign("Σ"), output], "total", told),
      changed ? sumRow(room, was, earlier, "ghost") : null,
    ),
    element("p", { class: "sum" }, outcome(room, mixed, was)),
    numbersOf(page, "output", [page.say("steps.coordinate"), output, ...(changed ? [earlier] : [])], () =>
      Array.from(mixed, (value, e) => [e, value, ...(changed ? [was[e]] : [])]),
    ),
  );
};
