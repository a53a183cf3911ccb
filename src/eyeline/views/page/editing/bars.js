// Rows of bars on one scale from zero: for each thing one number, or two, before and after.

import { element } from "../drawing/dom.js";

/** A row: its name, its numbers as shares of the scale's end, their texts. @typedef {{ name: Child, shares: number[], texts: string[], title?: string }} BarRow */

const SIDES = ["before", "after"];

/** The table of rows; `heads` are the titles of its columns, `side` the side of its first numbers. @type {(label: string, heads: string[], rows: BarRow[], side?: number) => HTMLElement} */
export const barTable = (label, heads, rows, side = 0) =>
  element(
    "table", { class: "edit-bars", "aria-label": label },
    element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, rows.map(({ name, shares, texts, title }) =>
      element(
        "tr", { title },
        element("th", { scope: "row" }, name),
        shares.map((share, at) =>
          element("td", {}, element("span", { class: "edit-bar" },
            element("span", { class: "edit-room", "aria-hidden": "true" },
              element("span", { class: `edit-fill ${SIDES[side + at]}`, style: { width: `${100 * Math.min(share, 1)}%` } })),
            element("span", { class: "edit-number" }, texts[at]),
          )),
        ),
      ),
    )),
  );
