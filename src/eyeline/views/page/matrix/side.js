// The side of a matrix: the legend of its colours, what is beyond the scale, what is seen, and how to move.

import { button, element } from "../drawing/dom.js";
import { isolated, labelled, percent } from "../drawing/labels.js";
import { asideNames } from "../sentence/unit_names.js";
import { Ruler } from "./axes.js";
import { hiddenBy } from "./hidden_pairs.js";
import { legendTitle, ramp, scaleText } from "./legend.js";
import { font } from "./plot.js";

const WIDTH = 252; // pixels of the ramp
const NAMED = 12; // columns beyond the scale that are named
const UNITS = 4; // units set aside that are named

/** The names of the units that the grey column holds. @type {(page: Page, parts: RowParts) => string} */
const inGrey = (page, { attention, others }) => {
  const units = others.map((at) => attention.keys[at]);
  const each = asideNames(page, units, (unit) => isolated(labelled(unit)));
  return [...each.slice(0, UNITS), ...(each.length > UNITS ? ["…"] : [])].join(", ");
};

/**
 * The side: `show` after a frame, `showPlace` after a movement, `update` after a change of the state.
 * @param {Matrix} matrix
 */
export const createSide = (matrix) => {
  const { page, viewport } = matrix;
  const key = element("div", { class: "matrix-legend" });
  const note = element("p", { class: "quiet" });
  const clips = element("div", { class: "matrix-clips" });
  const place = element("p", { class: "quiet matrix-place" });
  const how = element("p", { class: "quiet matrix-how", id: `${page.id}-matrix-how` });
  const whole = element("div", { class: "matrix-side" }, key, note, clips, place, how);
  let seen = "";
  /** @type {Partial<Drawn>} */
  let drawn = {};
  /** @type {ColourMap | null | undefined} */
  let before;

  /** @type {(kind: string, text: string) => HTMLElement} */
  const swatch = (kind, text) =>
    element("p", { class: kind }, element("span", { class: "swatch", "aria-hidden": "true" }), text);

  /** @type {(colourMap: ColourMap | null, level: number | null) => HTMLElement[]} */
  const legend = (colourMap, level) => {
    const { grey, parts, cells } = matrix;
    const ruler = new Ruler(font(getComputedStyle(whole).fontFamily, false));
    const scale = colourMap
      ? [...ramp(colourMap, ruler, WIDTH), element("p", { class: "scale" }, scaleText(page, colourMap))]
      : [];
    const by = hiddenBy(page).join(", ");
    const veiled = cells && !cells.full ? [swatch("veil", page.say("matrix.hidden", { by }))] : [];
    return [
      element("p", { class: "caption" }, legendTitle(page, level, grey !== null)),
      ...scale,
      ...(grey && parts ? [swatch("grey", page.say("matrix.grey.is", { names: inGrey(page, parts) }))] : []),
      ...veiled,
    ];
  };

  /** @type {(now: Partial<Drawn>) => void} */
  const show = (now) => {
    drawn = { ...drawn, ...now };
    const { state, level, colourMap, coarse, failed } = drawn;
    const share = percent(Math.floor(100 * (drawn.share ?? 0)) / 100);
    const name = [state, level, coarse, page.words, page.language, failed, state === "slow" && share].join(" ");
    if (name === seen && colourMap === before) return;
    [seen, before] = [name, colourMap];
    key.replaceChildren(...legend(colourMap ?? null, coarse ? null : (level ?? 0)));
    if (failed) note.textContent = page.say("failed", { reason: page.reason(failed) });
    else if (state === "loading") note.textContent = page.say("loading");
    else if (state === "slow") note.textContent = page.say("matrix.slow", { share });
    else note.textContent = level ? page.say("matrix.dots", { count: 2 ** level }) : "";
    note.hidden = !note.textContent;
  };

  const showPlace = () => {
    const { lines } = matrix;
    if (!lines) return;
    const { top, left, bottom, right } = viewport.seen;
    /** @type {(line: Axis, first: number, last: number) => string} */
    const span = (line, first, last) => `${line.numbers[first]}–${line.numbers[last - 1]}`;
    const [rows, columns] = [lines.rows.numbers.length, lines.columns.numbers.length];
    const spans = { queries: span(lines.rows, top, bottom), keys: span(lines.columns, left, right) };
    place.textContent = page.say(`matrix.${viewport.whole ? "whole" : "place"}`, { rows, columns, ...spans });
  };

  const update = () => {
    const again = clips.contains(document.activeElement);
    const labels = matrix.lines?.columns.labels ?? [];
    const clipped = matrix.lines ? matrix.clipped : [];
    const own = page.state.clipped !== null;
    const taken = new Map(matrix.sinks.map(({ column, share }) => [column, percent(share)]));
    const chips = clipped.slice(0, NAMED).map((column) => {
      const text = [element("bdi", {}, labels[column].slice(0, 40)), ` ${taken.get(column) ?? ""} ×`];
      const label = page.say("matrix.unclip", { key: isolated(labels[column]) });
      return button(text, () => matrix.clip(column), { class: "plain clip", "aria-label": label });
    });
    clips.replaceChildren(
      ...(clipped.length
        ? [element("p", { class: "caption" }, page.say(own ? "matrix.clips" : "matrix.sinks")), ...chips]
        : []),
      ...(own && (clipped.length || matrix.sinks.length)
        ? [button(page.say("matrix.clips.auto"), () => page.set({ clipped: null }), { class: "plain" })]
        : []),
    );
    clips.hidden = !clips.childElementCount;
    if (again) (clips.querySelector("button") ?? matrix.canvas).focus();
    how.textContent = page.say("matrix.how");
    showPlace();
    show({});
  };
  return { element: whole, show, showPlace, update };
};
