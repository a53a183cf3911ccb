// What stands beside a matrix: how its colours are scaled and what they mean, zooming, columns left out of the scale.

import { button, choice, element } from "../drawing/dom.js";
import { isolated, percent } from "../drawing/labels.js";
import { legend } from "./legend.js";

/** The controls of a matrix: `show` what is being drawn, `showPlace` where, `update` after a change of the state. */
export const createControls = (matrix) => {
  const { page, viewport } = matrix;
  const [scale, zooms, place, clips, key, note] = ["span", "div", "p", "div", "div", "p"].map((tag) => element(tag));
  scale.className = "stepper";
  zooms.className = "matrix-zooms";
  place.className = "quiet matrix-place";
  clips.className = "matrix-clips";
  key.className = "matrix-legend";
  note.className = "quiet";
  const how = element("p", { class: "quiet matrix-how", id: `${page.id}-matrix-how` });
  const buttons = [
    ["+", "matrix.closer", () => matrix.zoom(1.5)],
    ["−", "matrix.farther", () => matrix.zoom(1 / 1.5)],
    ["", "matrix.all", () => matrix.fit()],
  ].map(([sign, text, pressed]) => ({ sign, text, part: button(sign, pressed, { class: "plain" }) }));
  zooms.append(...buttons.map(({ part }) => part));
  let seen = "";
  let drawn = {};

  const showPlace = () => {
    const { lines } = matrix;
    if (!lines) return;
    const { top, left, bottom, right } = viewport.seen;
    const span = (line, first, last) => `${line.numbers[first]}–${line.numbers[last - 1]}`;
    const [rows, columns] = [lines.rows.numbers.length, lines.columns.numbers.length];
    place.textContent = viewport.whole
      ? page.say("matrix.whole", { rows, columns })
      : page.say("matrix.place", {
          rows, columns, queries: span(lines.rows, top, bottom), keys: span(lines.columns, left, right),
        });
    buttons[1].part.disabled = buttons[2].part.disabled = viewport.whole;
    buttons[0].part.disabled = viewport.size >= viewport.most;
  };

  const show = (now) => {
    drawn = { ...drawn, ...now };
    const { state, level, colourMap, coarse, failed } = drawn;
    const masked = matrix.cells ? !matrix.cells.full : false;
    const name = [state, level, coarse, masked, page.language, failed].join(" ");
    if (name === seen && colourMap === drawn.before) return;
    [seen, drawn.before] = [name, colourMap];
    key.replaceChildren(...legend(page, colourMap ?? null, coarse ? null : (level ?? 0), masked));
    if (failed) note.textContent = page.say("failed", { reason: failed.message });
    else if (state === "loading") note.textContent = page.say("loading");
    else if (state === "slow") note.textContent = page.say("matrix.slow");
    else if (state === "far") note.textContent = page.say("matrix.far");
    else note.textContent = level ? page.say("matrix.dots", { count: 2 ** level }) : "";
    note.hidden = !note.textContent;
  };

  const update = (sink) => {
    const { activeElement } = document;
    const again = scale.contains(activeElement) ? scale : clips.contains(activeElement) ? clips : null;
    const kinds = ["linear", "log", "rank"].map((kind) => [kind, page.say(`matrix.scale.${kind}`)]);
    scale.replaceChildren(
      element("span", { class: "caption", "aria-hidden": "true" }, page.say("matrix.scale")),
      choice(page.say("matrix.scale"), kinds, page.state.scale, (kind) => page.set({ scale: kind })),
    );
    for (const { part, text, sign } of buttons) {
      part.setAttribute("aria-label", page.say(text));
      part.title = page.say(text);
      if (!sign) part.textContent = page.say(text);
    }
    how.textContent = page.say("matrix.how");
    const { lines } = matrix;
    const clipped = lines ? matrix.clipped : [];
    const offered = sink && !clipped.includes(sink.column) ? sink : null;
    clips.replaceChildren(
      ...(offered
        ? [
            element("p", {}, page.say("matrix.sink", {
              key: isolated(lines.columns.labels[offered.column]), share: percent(offered.share),
            })),
            button(page.say("matrix.sink.clip"), () => matrix.clip(offered.column), { class: "plain" }),
          ]
        : []),
      ...(clipped.length
        ? [
            element("p", { class: "caption" }, page.say("matrix.clips")),
            ...clipped.slice(0, 12).map((column) =>
              button(`${lines.columns.labels[column].slice(0, 40)} ×`, () => matrix.clip(column), {
                class: "plain clip",
                "aria-label": page.say("matrix.unclip", { key: lines.columns.labels[column] }),
              }),
            ),
          ]
        : []),
    );
    clips.hidden = !clips.childElementCount;
    if (again) (again.querySelector("select, button") ?? matrix.canvas).focus();
    showPlace();
    show({});
  };

  const row = element("div", { class: "matrix-tools" }, scale, zooms);
  const all = element("div", { class: "matrix-controls" }, key, note, clips, row, place, how);
  return { element: all, show, showPlace, update };
};
