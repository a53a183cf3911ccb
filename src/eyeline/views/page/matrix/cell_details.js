// The words beside the cell under the pointer or the cursor: who looks at whom, and with how much of its weight.

import { element, phrase } from "../drawing/dom.js";
import { figure, isolated, percent } from "../drawing/labels.js";

const APART = 10; // pixels between a cell and its details

/**
 * The details of a cell, over the board beside it; `show` returns them as a sentence, for screen readers.
 * @param {Matrix} matrix
 */
export const createCellDetails = (matrix) => {
  const { page, viewport } = matrix;
  const whole = element("div", { class: "readout", hidden: true, "aria-hidden": "true" });
  /** @type {(kind: string, name: string, ...value: Child[]) => HTMLElement} */
  const entry = (kind, name, ...value) =>
    element("div", { class: kind }, element("dt", {}, name), element("dd", {}, ...value));
  /** @type {(line: Axis, at: number) => HTMLElement[]} */
  const unit = (line, at) => [
    element("bdi", {}, line.labels[at]),
    element("span", { class: "quiet number" }, String(line.numbers[at])),
  ];

  /** @type {(at: Cell) => void} */
  const place = ({ row, column }) => {
    const { gutter, canvas } = matrix;
    if (!gutter) return;
    const [x, y, size] = [gutter.left + viewport.x(column), gutter.top + viewport.y(row), Math.max(viewport.size, 2)];
    const [wide, high] = [whole.offsetWidth, whole.offsetHeight];
    const board = canvas.parentElement;
    const room = Math.max((board?.parentElement ?? canvas).clientWidth, wide);
    const right = x + size + APART;
    const left = x - APART - wide;
    /** @type {(from: number, most: number) => number} */
    const within = (from, most) => Math.max(Math.min(from, most), 0);
    const beside = right + wide <= room ? right : left >= 0 ? left : null;
    const down = y + size + APART + high <= canvas.clientHeight ? y + size + APART : Math.max(y - APART - high, 0);
    whole.style.left = `${beside ?? within(x + size / 2 - wide / 2, room - wide)}px`;
    whole.style.top = `${beside === null ? down : within(y + size / 2 - high / 2, canvas.clientHeight - high)}px`;
  };

  /** @type {(at: Cell | null) => string} */
  const show = (at) => {
    const { cells, lines, parts } = matrix;
    whole.hidden = !at || !cells || !lines || !parts;
    if (!at || !cells || !lines || !parts) return "";
    const [query, key] = [lines.rows.labels[at.row], lines.columns.labels[at.column]];
    const shares = page.state.special === "out";
    const hidden = !cells.allowed(at.row, at.column);
    const weight = hidden ? 0 : cells.weight(at.row, at.column);
    const text = page.say(`matrix.said${hidden ? ".none" : shares ? ".share" : ""}`);
    const names = { query: element("bdi", { class: "one" }, query), key: element("bdi", { class: "other" }, key) };
    const share = percent(weight);
    const aside = matrix.grey && parts.work(at.row, at.row + 1) ? percent(parts.aside[at.row]) : null;
    const beyond = !hidden && matrix.clipped.includes(at.column);
    const numbers = hidden
      ? []
      : [
          entry("weight given", page.say(shares ? "matrix.share" : "matrix.weight"), figure(weight, 6)),
          ...(beyond ? [entry("beyond", "", page.say("matrix.capped"))] : []),
        ];
    whole.replaceChildren(
      element("p", { class: "said" }, phrase(text, { ...names, share: element("strong", {}, share) })),
      element(
        "dl", {},
        entry("query", page.say("matrix.query"), ...unit(lines.rows, at.row)),
        entry("key", page.say("matrix.key"), ...unit(lines.columns, at.column)),
        ...numbers,
        aside === null ? null : entry("aside", page.say("matrix.grey"), aside),
      ),
    );
    place(at);
    const said = phrase(text, { query: isolated(query), key: isolated(key), share }).join("");
    return [said, ...(aside === null ? [] : [`${page.say("matrix.grey")} ${aside}`])].join("; ");
  };
  return { element: whole, show };
};
