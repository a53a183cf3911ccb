// Step 6 of the steps view: the heads joined, W_o, and what is added to x, with the length of each part.

import { element, phrase } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { most, strip } from "../drawing/vector_strips.js";
import { lengthOf } from "../weights/projections.js";
import { roundEnd } from "../weights/quantity.js";
import { datum, heads, row, sign, step, word } from "./elements.js";
import { matrix, matrixEnd } from "./matrix_picture.js";
import { bar, track } from "./scaled_step.js";

const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8]; // of the ends of scales of lengths

/** The end of a scale of lengths: a round number that isn't below any of them. @type {(lengths: number[]) => number} */
const lengthsEnd = (lengths) => roundEnd(Math.max(...lengths), { steps: STEPS });

/**
 * The vectors that are added up, with the changes if there are any.
 * @type {(walk: Walkthrough, made: Projections) => JoinedParts}
 */
export const joinedOf = (walk, made) => {
  const { token, now, before } = walk;
  const residual = Float64Array.from(made.row(made.residual, token));
  const trained = Float64Array.from(made.row(made.added, token));
  const part = made.part(now.output ?? new Float64Array(made.E));
  const was = made.part(before.output ?? new Float64Array(made.E));
  // The other heads are as they were.
  const added = walk.changed ? trained.map((value, at) => value - was[at] + part[at]) : trained;
  return { residual, added, part, sum: residual.map((value, at) => value + added[at]) };
};

/** The end of a scale as a text. @type {(end: number) => string} */
const endOf = (end) => figure(end, end < 1 ? 2 : 1);

/**
 * The heads side by side, each with the length of its part.
 * @type {(room: StepsRoom, made: Projections, own: number) => HTMLElement}
 */
const headsJoined = ({ page, walk }, made, own) => {
  /** @type {(height: number) => HTMLElement} */
  const filled = (height) => element("i", { class: "painted", style: { height: `${height}%` } });
  const lengths = Array.from({ length: made.heads }, (_, head) =>
    head === walk.number ? own : made.lengths[head * made.N + walk.token],
  );
  const end = lengthsEnd(lengths);
  return element(
    "figure",
    { class: "joined" },
    element(
      "div",
      { class: "heads", role: "list" },
      lengths.map((length, head) =>
        element(
          "div",
          { class: head === walk.number ? "one here" : "one", role: "listitem", title: `H${head}: ${figure(length)}` },
          element("span", { class: "well" }, filled((100 * length) / end)),
          element("span", { class: "name" }, `H${head}`),
        ),
      ),
    ),
    element("figcaption", { class: "quiet" }, page.say("steps.joined.caption", { end: endOf(end), head: walk.number })),
  );
};

/**
 * The lengths as bars on one scale, from zero.
 * @type {(page: Page, rows: [name: Child, vector: Numbers, kind: string][]) => HTMLElement}
 */
const lengthBars = (page, rows) => {
  const lengths = rows.map(([, vector]) => lengthOf(vector));
  const end = lengthsEnd(lengths);
  return element(
    "div",
    { class: "lengths" },
    rows.map(([name, , kind], at) =>
      element(
        "div",
        { class: "row" },
        element("div", { class: "label" }, name),
        track(bar(lengths[at], [0, end], kind)),
        element("span", { class: "at" }, datum(lengths[at])),
      ),
    ),
    element("p", { class: "quiet" }, page.say("steps.lengths", { end: endOf(end) })),
  );
};

/** Step 6. @type {(room: StepsRoom, made: Projections) => HTMLElement} */
export const joinedStep = (room, made) => {
  const { page, walk } = room;
  const { number } = walk;
  const { residual, added, part, sum } = joinedOf(walk, made);
  const end = most(residual, added, part, sum);
  const W = made.W_o;
  const turned = new Float32Array(W.length); // columns as rows, so that its output lies beneath it
  for (let at = 0; at < W.length; at++) turned[(at % made.E) * made.width + Math.floor(at / made.E)] = W[at];
  const total = made.heads * made.E;
  const told = {
    head: String(number), heads: String(made.heads), joined: String(total), first: String(number * made.E),
    last: String((number + 1) * made.E - 1), width: String(made.width), word: word(walk.word, "query"),
  };
  /** @type {(mark: string, name: string, values: Float64Array) => HTMLElement} */
  const line = (mark, name, values) =>
    row([sign(mark), name], strip(room, { space: "input", values, end, name }), room.tell("input", (at) => values[at]));
  const names = {
    part: page.say("steps.part", { head: number }),
    added: page.say(made.biasLength ? "steps.added.bias" : "steps.added", { heads: made.heads }),
    residual: page.say("steps.residual"),
    sum: page.say("steps.new"),
  };
  const size = { rows: made.E, columns: made.width, name: page.say("steps.matrix.out", { head: number }) };
  const shape = `${total} → ${made.width}`;
  const then = made.after ? "steps.then.norm" : made.before ? "steps.then.layer" : "steps.then";
  return step(
    page,
    { nth: "6", title: page.say("steps.name.6"), shape, why: phrase(page.say("steps.joined.why"), told) },
    headsJoined(room, made, lengthOf(part)),
    element(
      "div",
      { class: "output" },
      heads(room, end, "input"),
      element(
        "div",
        { class: "row tall" },
        element("div", { class: "label" }, sign("×"), element("span", {}, `Wₒ · H${number}`)),
        matrix(room, { ...size, numbers: turned, end: matrixEnd(W), space: "pass", kind: "whole out" }),
        element("span"),
      ),
      line("=", names.part, part),
      line("", names.added, added),
      line("+", names.residual, residual),
      element("div", { class: "total" }, line("=", names.sum, sum)),
    ),
    lengthBars(page, [
      [names.residual, residual, "plain"],
      [names.added, added, "plain"],
      [names.part, part, "value"],
      [names.sum, sum, "plain"],
    ]),
    element("p", { class: "sum" }, page.say(then, { norm: made.after ?? "" })),
    walk.changed ? element("p", { class: "remark" }, page.say("steps.others.stay")) : null,
  );
};
