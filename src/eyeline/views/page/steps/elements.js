// The elements of the steps view: numbers, words, rows, and the frame of a step.

import { element } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { scaleBar } from "../drawing/scale_bar.js";

/**
 * A number in few digits, with all of its digits on hover and when copied. `from` and `to` name it for the next step,
 * into which it moves: see motion.js.
 * @type {(value: number, digits?: number, moves?: { from?: string, to?: string }) => HTMLElement}
 */
export const datum = (value, digits = 3, { from, to } = {}) => {
  const title = String(Number(value.toPrecision(8)));
  const attributes = { class: "number", value: String(value), title, "data-from": from, "data-to": to };
  return element("data", attributes, figure(value, digits));
};

/**
 * A token's label in the colour of its role: "query", "key" or "value".
 * @type {(text: string, kind: string) => HTMLElement}
 */
export const word = (text, kind) => element("bdi", { class: `word ${kind}` }, text);

/** A sign such as × before a label. @type {(text: string) => HTMLElement} */
export const sign = (text) => element("span", { class: "sign" }, text);

/** "K: 7 × 32" @type {(letter: string, rows: number, columns: number) => string} */
export const sized = (letter, rows, columns) => `${letter}: ${rows} × ${columns}`;

/**
 * A row: its label, its drawing, and a number.
 * @type {(label: Child, drawn: Child, number: Child, attributes?: Attributes) => HTMLElement}
 */
export const row = (label, drawn, number, attributes = {}) =>
  element(
    "div",
    { ...attributes, class: `row ${attributes.class ?? ""}` },
    element("div", { class: "label" }, label),
    drawn,
    number,
  );

/**
 * The heading of strips: the colour scale, and the coordinate of the numbers beside them.
 * @type {(room: StepsRoom, end?: number | null, space?: Space) => HTMLElement}
 */
export const heads = (room, end = null, space = "match") =>
  element(
    "div",
    { class: "row over" },
    element("span"),
    end === null ? element("span") : scaleBar(room, { end, signed: true, digits: 2 }),
    room.which(space),
  );

/**
 * A step: its number, name and shape, an explanation of one line, and its content.
 * @type {(
 *   page: Page, of: { nth: string, title: string, shape: string, why: Child }, ...content: Child[]
 * ) => HTMLElement}
 */
export const step = (page, { nth, title, shape, why }, ...content) => {
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

/**
 * The attributes of a strip that arrow keys read one coordinate at a time.
 * @type {(room: StepsRoom, space: Space, name: string, focus: string) => Attributes}
 */
export const slider = ({ reading }, space, name, focus) => ({
  role: "slider",
  tabindex: 0,
  "aria-label": name,
  "aria-valuemin": 0,
  "aria-valuemax": reading[space].of - 1,
  "data-focus": focus,
});

/**
 * A table of numbers, built when it is opened, since many coordinates make many cells.
 * @type {(page: Page, name: string, columns: string[], rows: () => number[][]) => HTMLElement}
 */
export const numbersOf = (page, name, columns, rows) => {
  const body = element("div", { class: "scroll" });
  const summary = element("summary", { "data-focus": `numbers-${name}` }, page.say("steps.numbers"));
  const details = element("details", { class: "numbers", "data-table": name }, summary, body);
  details.addEventListener("toggle", () => {
    if (!details.open || body.firstChild) return;
    /** @type {(value: number) => HTMLElement} */
    const cell = (value) => element("td", {}, datum(value, 4));
    /** @type {(numbers: number[]) => HTMLElement} */
    const line = ([head, ...values]) => element("tr", {}, element("th", { scope: "row" }, head), values.map(cell));
    body.append(
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, columns.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, rows().map(line)),
      ),
    );
  });
  return details;
};
