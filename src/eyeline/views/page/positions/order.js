// Words in another order: without positions each word's output stays; with them it changes. Shown with the toy's numbers.

import { choice, element, tick } from "../drawing/dom.js";
import { figure, isolated, named, percent } from "../drawing/labels.js";
import { toyOf } from "../toy/example.js";
import { twoOrders } from "./formula.js";

/** @type {(row: number[]) => string} */
const vector = (row) => `[${row.map((number) => figure(Math.abs(number) < 0.005 ? 0 : number, 2)).join(", ")}]`;

/** The part. @type {(page: Page) => { element: HTMLElement, kept: boolean }} */
export const orderPart = (page) => {
  const { shuffled, placed } = page.state;
  const toy = toyOf(page);
  const { words, before, second, after, same } = twoOrders(toy, placed);
  const kept = same.every(Boolean);
  /** @type {[PlacedScheme, string][]} */
  const options = [
    ["none", page.say("positions.placed.none")],
    ["sinusoidal", page.say("positions.placed.sinusoidal")],
    ["rotary", page.say("positions.placed.rotary")],
  ];
  const list = choice(page.say("positions.placed"), options, placed, (value) =>
    page.set({ placed: options.find(([name]) => name === value)?.[0] ?? "none" }),
  );
  list.setAttribute("data-focus", "placed");
  const switched = tick(page.say("positions.shuffled"), shuffled, (on) => page.set({ shuffled: on }));
  switched.querySelector("input")?.setAttribute("data-focus", "shuffled");
  const [line, weights] = shuffled ? [words, second.weights] : [toy.words, before.weights];
  /** @type {(word: string, kind: string) => HTMLElement} */
  const name = (word, kind) => element("bdi", { class: `word ${kind}` }, named(word));
  const matrix = element(
    "table",
    { class: "order-weights", "aria-label": page.say("positions.weights") },
    element("thead", {}, element("tr", {}, element("td"), line.map((word) => element("th", { scope: "col" }, name(word, "key"))))),
    element(
      "tbody",
      {},
      line.map((word, row) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, name(word, "query")),
          weights[row].map((weight) =>
            element(
              "td",
              {},
              element("span", { class: "number" }, percent(weight)),
              element("i", { class: "bar painted", style: { width: `${100 * weight}%` } }),
            ),
          ),
        ),
      ),
    ),
  );
  /** @type {(at: number) => HTMLElement} */
  const outcome = (at) =>
    element(
      "tr",
      { class: same[at] ? "same" : "other" },
      element("th", { scope: "row" }, name(toy.words[at], "query")),
      element("td", { class: "number" }, vector(before.output[at])),
      element("td", { class: "number" }, vector(after[at])),
      element("td", {}, page.say(same[at] ? "positions.same" : "positions.other")),
    );
  /** @type {(of: string[]) => string} */
  const text = (of) => of.map((word) => isolated(named(word))).join(" ");
  return {
    kept,
    element: element(
      "section",
      { class: "order" },
      element("h3", {}, page.say("positions.order")),
      element("p", { class: "quiet" }, page.say("positions.order.why")),
      element("div", { class: "order-tools" }, switched, element("label", { class: "tick" }, element("span", {}, page.say("positions.placed")), list)),
      element("p", { class: "line" }, line.map((word, at) => [element("sub", {}, at), element("bdi", {}, named(word)), " "])),
      matrix,
      element("p", { class: "quiet" }, page.say("positions.weights.scale")),
      element(
        "table",
        { class: "outcomes" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            element("td"),
            element("th", { scope: "col" }, page.say("positions.output.in", { words: text(toy.words) })),
            element("th", { scope: "col" }, page.say("positions.output.in", { words: text(words) })),
            element("td"),
          ),
        ),
        element("tbody", {}, toy.words.map((_, at) => outcome(at))),
      ),
      element("p", { class: `verdict ${kept ? "same" : "other"}`, role: "status" }, page.say(kept ? "positions.verdict.same" : "positions.verdict.other")),
    ),
  };
};

/** The outputs in both orders as a table. @type {(page: Page) => Table} */
export const orderTable = (page) => {
  const toy = toyOf(page);
  const { words, before, after, same } = twoOrders(toy, page.state.placed);
  const width = toy.v[0].length;
  /** @type {(name: string) => string[]} */
  const columns = (name) => Array.from({ length: width }, (_, at) => `${name}${at}`);
  return {
    name: "positions",
    columns: ["word", "positions", "other_order", ...columns("output"), ...columns("other_output"), "same"],
    rows: toy.words.map((word, at) => [word, page.state.placed, words.join(" "), ...before.output[at], ...after[at], Number(same[at])]),
  };
};
