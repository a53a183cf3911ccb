// The words beside the cell under the pointer or the cursor: who looks at whom, and with how much of its weight.

import { element, phrase } from "../drawing/dom.js";
import { figure, isolated, percent } from "../drawing/labels.js";
import { LABELLED } from "./axes.js";
import { marked } from "./legend.js";
import { RowReader } from "./row_reading.js";

const APART = 10; // pixels between a cell and its details
const LONG = 4096; // cells of a row beyond which it is read once the pointer rests
const REST = 60; // milliseconds

/**
 * The details of a cell, over the board beside it; `show` returns them as a sentence, for screen readers, which are told
 * all that the pointer would be. Where cells are small, they say what the row says, and the mean that the dot shows.
 * @param {Matrix} matrix
 */
export const createCellDetails = (matrix) => {
  const { page, viewport } = matrix;
  const whole = element("div", { class: "readout", hidden: true, "aria-hidden": "true" });
  const reader = new RowReader();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let rest;
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

  /** What the row says, as [class, name, value]. @type {(at: Cell, spoken: boolean) => [string, string, string][]} */
  const ofRow = ({ row }, spoken) => {
    const { cells, lines } = matrix;
    clearTimeout(rest);
    if (!cells || cells.waiting || !lines || viewport.size >= LABELLED) return [];
    if (!spoken && cells.attention.M > LONG && !reader.known(cells, row)) {
      rest = setTimeout(() => {
        if (matrix.cells !== cells || matrix.at?.row !== row) return;
        reader.read(cells, row);
        show(matrix.at);
      }, REST);
      return [];
    }
    const { largest, entropy } = reader.read(cells, row);
    const all = largest.map(({ column, number }) => `${isolated(lines.columns.labels[column])} ${marked(number)}`);
    return [
      ["largest", page.say("matrix.row.largest"), all.join(", ") || "–"],
      ...(entropy === null ? [] : [/** @type {[string, string, string]} */ (
        ["entropy", page.say("matrix.row.entropy"), page.say("matrix.row.nats", { number: figure(entropy, 4) })]
      )]),
    ];
  };

  /** The mean that the dot of a cell shows, as [class, name, value]. @type {(at: Cell) => [string, string, string][]} */
  const ofDot = (at) => {
    const dot = matrix.dotAt(at);
    if (!dot) return [];
    const { side, mean, stored } = dot;
    const value = `${stored ? "≈ " : ""}${marked(mean)}`;
    return [["mean", page.say(stored ? "matrix.mean.stored" : "matrix.mean", { count: side }), value]];
  };

  /** @type {(at: Cell | null, spoken?: boolean) => string} */
  const show = (at, spoken = false) => {
    const { cells, lines, parts } = matrix;
    whole.hidden = !at || !cells || !lines || !parts;
    if (!at || !cells || !lines || !parts) return "";
    const [query, key] = [lines.rows.labels[at.row], lines.columns.labels[at.column]];
    const shares = page.state.special === "out";
    const hidden = !cells.allowed(at.row, at.column);
    const more = [...(hidden ? [] : ofDot(at)), ...ofRow(at, spoken)];
    const weight = hidden || cells.waiting ? 0 : cells.weight(at.row, at.column);
    const kind = hidden ? ".none" : cells.waiting ? ".reading" : shares ? ".share" : "";
    const text = page.say(`matrix.said${kind}`);
    const names = { query: element("bdi", { class: "one" }, query), key: element("bdi", { class: "other" }, key) };
    const share = percent(weight);
    const aside = matrix.grey && !cells.waiting ? percent(parts.asideOf(at.row)) : null;
    const beyond = !hidden && matrix.clipped.includes(at.column);
    const numbers = hidden || cells.waiting
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
        ...more.map(([name, title, value]) => entry(name, title, value)),
        aside === null ? null : entry("aside", page.say("matrix.grey"), aside),
      ),
    );
    place(at);
    const said = phrase(text, { query: isolated(query), key: isolated(key), share }).join("");
    const others = more.map(([, title, value]) => `${title} ${value}`);
    return [said, ...others, ...(aside === null ? [] : [`${page.say("matrix.grey")} ${aside}`])].join("; ");
  };
  return { element: whole, show };
};
