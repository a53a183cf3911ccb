// The controls beside a matrix: its colour scale, legend, zoom, and the columns left out of the scale.

import { button, choice, element } from "../drawing/dom.js";
import { isolated, percent } from "../drawing/labels.js";
import { legend } from "./legend.js";

/** @type {ScaleKind[]} */
const KINDS = ["linear", "log", "rank"];

/**
 * The controls of a matrix: `show` after a frame, `showPlace` after a movement, `update` after a change of the state.
 * @param {Matrix} matrix
 */
export const createControls = (matrix) => {
  const { page, viewport } = matrix;
  const scale = element("span", { class: "stepper" });
  const zooms = element("div", { class: "matrix-zooms" });
  const place = element("p", { class: "quiet matrix-place" });
  const clips = element("div", { class: "matrix-clips" });
  const key = element("div", { class: "matrix-legend" });
  const note = element("p", { class: "quiet" });
  const how = element("p", { class: "quiet matrix-how", id: `${page.id}-matrix-how` });
  const [closer, farther, all] = [
    button("+", () => matrix.zoom(1.5), { class: "plain" }),
    button("−", () => matrix.zoom(1 / 1.5), { class: "plain" }),
    button("", () => matrix.fit(), { class: "plain" }),
  ];
  zooms.append(closer, farther, all);
  let seen = "";
  /** @type {Partial<Drawn>} */
  let drawn = {};
  /** @type {ColourMap | null | undefined} */
  let before;

  const showPlace = () => {
    const { lines } = matrix;
    if (!lines) return;
    const { top, left, bottom, right } = viewport.seen;
    /** @type {(line: Axis, first: number, last: number) => string} */
    const span = (line, first, last) => `${line.numbers[first]}–${line.numbers[last - 1]}`;
    const [rows, columns] = [lines.rows.numbers.length, lines.columns.numbers.length];
    place.textContent = viewport.whole
      ? page.say("matrix.whole", { rows, columns })
      : page.say("matrix.place", {
          rows, columns, queries: span(lines.rows, top, bottom), keys: span(lines.columns, left, right),
        });
    farther.disabled = all.disabled = viewport.whole;
    closer.disabled = viewport.size >= viewport.most;
  };

  /** @type {(now: Partial<Drawn>) => void} */
  const show = (now) => {
    drawn = { ...drawn, ...now };
    const { state, level, colourMap, coarse, failed } = drawn;
    const masked = matrix.cells ? !matrix.cells.full : false;
    const name = [state, level, coarse, masked, page.language, failed].join(" ");
    if (name === seen && colourMap === before) return;
    [seen, before] = [name, colourMap];
    key.replaceChildren(...legend(page, colourMap ?? null, coarse ? null : (level ?? 0), masked));
    if (failed) note.textContent = page.say("failed", { reason: page.reason(failed) });
    else if (state === "loading") note.textContent = page.say("loading");
    else if (state === "slow") note.textContent = page.say("matrix.slow");
    else if (state === "far") note.textContent = page.say("matrix.far");
    else note.textContent = level ? page.say("matrix.dots", { count: 2 ** level }) : "";
    note.hidden = !note.textContent;
  };

  /** @type {(sink: Sink | null) => void} */
  const update = (sink) => {
    const { activeElement } = document;
    const again = scale.contains(activeElement) ? scale : clips.contains(activeElement) ? clips : null;
    /** @type {[kind: ScaleKind, text: string][]} */
    const kinds = KINDS.map((kind) => [kind, page.say(`matrix.scale.${kind}`)]);
    scale.replaceChildren(
      element("span", { class: "caption", "aria-hidden": "true" }, page.say("matrix.scale")),
      choice(page.say("matrix.scale"), kinds, page.state.scale, (chosen) =>
        page.set({ scale: KINDS.find((kind) => kind === chosen) }),
      ),
    );
    for (const [part, name] of /** @type {const} */ ([[closer, "closer"], [farther, "farther"], [all, "all"]])) {
      const text = page.say(`matrix.${name}`);
      part.setAttribute("aria-label", text);
      part.title = text;
      if (part === all) part.textContent = text;
    }
    how.textContent = page.say("matrix.how");
    const labels = matrix.lines?.columns.labels ?? [];
    const clipped = matrix.lines ? matrix.clipped : [];
    const offered = sink && !clipped.includes(sink.column) ? sink : null;
    clips.replaceChildren(
      ...(offered
        ? [
            element("p", {}, page.say("matrix.sink", {
              key: isolated(labels[offered.column]), share: percent(offered.share),
            })),
            button(page.say("matrix.sink.clip"), () => matrix.clip(offered.column), { class: "plain" }),
          ]
        : []),
      ...(clipped.length
        ? [
            element("p", { class: "caption" }, page.say("matrix.clips")),
            ...clipped.slice(0, 12).map((column) =>
              button(`${labels[column].slice(0, 40)} ×`, () => matrix.clip(column), {
                class: "plain clip",
                "aria-label": page.say("matrix.unclip", { key: labels[column] }),
              }),
            ),
          ]
        : []),
    );
    clips.hidden = !clips.childElementCount;
    /** @type {HTMLElement | null | undefined} */
    const part = again?.querySelector("select, button");
    if (again) (part ?? matrix.canvas).focus();
    showPlace();
    show({});
  };

  const row = element("div", { class: "matrix-tools" }, scale, zooms);
  const whole = element("div", { class: "matrix-controls" }, key, note, clips, row, place, how);
  return { element: whole, show, showPlace, update };
};
