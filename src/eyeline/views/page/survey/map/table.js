// The map as a table, for whoever reads rather than looks: fifty heads at a time, in the map's order.

import { button, element } from "../../drawing/dom.js";

const ROWS = 50;

/**
 * The table, closed until it is asked for. `content` returns its columns' titles and how many rows there are, and one
 * row's texts.
 * @param {SurveyPage} page
 * @param {() => { columns: string[], count: number, row: (at: number) => string[] }} content
 */
export const createTable = (page, content) => {
  const summary = element("summary", { class: "plain" });
  const body = element("div");
  const whole = element("details", { class: "map-table" }, summary, body);
  let from = 0;
  const fill = () => {
    const { columns, count, row } = content();
    from = Math.max(Math.min(from, Math.floor((count - 1) / ROWS) * ROWS), 0);
    const last = Math.min(from + ROWS, count);
    /** @type {(by: number) => void} */
    const turn = (by) => {
      from += by * ROWS;
      fill();
    };
    /** @type {(sign: string, by: number, name: string, off: boolean) => HTMLElement} */
    const turner = (sign, by, name, off) =>
      button(sign, () => turn(by), { class: "plain", "aria-label": page.say(name), disabled: off });
    const rows = Array.from({ length: last - from }, (_, at) => {
      const [head, ...cells] = row(from + at);
      return element("tr", {}, element("th", { scope: "row" }, head), ...cells.map((text) => element("td", {}, text)));
    });
    body.replaceChildren(
      element("table", {},
        element("thead", {}, element("tr", {}, ...columns.map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows)),
      ...(count > ROWS ? [element("p", { class: "quiet" },
        turner("‹", -1, "survey.table.before", from === 0), " ",
        page.say("survey.table.range", { first: from + 1, last, count }), " ",
        turner("›", 1, "survey.table.after", last === count))] : []),
    );
  };
  whole.addEventListener("toggle", () => {
    if (whole.open) fill();
    else body.replaceChildren();
  });
  return {
    element: whole,
    update() {
      summary.textContent = page.say("survey.table");
      if (whole.open) fill();
    },
  };
};
