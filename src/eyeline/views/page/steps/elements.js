// What the steps are put together from: numbers, words, rows, and the frame of a step.

import { element } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { scaleBar } from "../drawing/scale_bar.js";

/** A number as it is shown, with all of its digits for those who point at it or copy it. */
export const datum = (value, digits = 3) => {
  const title = String(Number(value.toPrecision(8)));
  return element("data", { class: "number", value: String(value), title }, figure(value, digits));
};

/** A token's label in the colour of what is looked at: "query", "key" or "value". */
export const word = (text, kind) => element("bdi", { class: `word ${kind}` }, text);

/** A sign such as × before a label. */
export const sign = (text) => element("span", { class: "sign" }, text);

/** "K: 7 × 32" */
export const sized = (letter, rows, columns) => `${letter}: ${rows} × ${columns}`;

/** A row: its label, what is drawn, and a number. */
export const row = (label, drawn, number, attributes = {}) =>
  element(
    "div",
    { ...attributes, class: `row ${attributes.class ?? ""}` },
    element("div", { class: "label" }, label),
    drawn,
    number,
  );

/** Above strips of queries and keys: the colour scale, and which coordinate the numbers beside them are of. */
export const heads = (room, end = null) =>
  element(
    "div",
    { class: "row over" },
    element("span"),
    end === null ? element("span") : scaleBar(room, { end, signed: true, digits: 2 }),
    room.which("match"),
  );

/** A step: its number and name, its shape, what it is in one line, and what is seen of it. */
export const step = (page, { nth, title, shape, why }, ...content) => {
  const id = `${page.id}-step-${nth[0]}`;
  return element(
    "section",
    { class: "step", "aria-labelledby": id, "data-step": nth[0] },
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

/** What makes of a strip something that arrow keys read coordinate by coordinate. */
export const slider = ({ reading }, space, name, focus) => ({
  role: "slider",
  tabindex: 0,
  "aria-label": name,
  "aria-valuemin": 1,
  "aria-valuemax": reading[space].of,
  "data-focus": focus,
});

/** A table of numbers that is made when it is opened: of many coordinates there are many cells. */
export const numbersOf = (page, name, columns, rows) => {
  const body = element("div", { class: "scroll" });
  const summary = element("summary", { "data-focus": `numbers-${name}` }, page.say("steps.numbers"));
  const details = element("details", { class: "numbers", "data-table": name }, summary, body);
  details.addEventListener("toggle", () => {
    if (!details.open || body.firstChild) return;
    const cell = (value) => element("td", {}, datum(value, 4));
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
