// Two words' vectors from layer to layer: two curves that start together and part, as far apart as their angle is wide.

import { element, shape } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { angleOf, hundredths, namedWords } from "./parting.js";

const NAMED = 3; // the number of words that only one side has, beside its curve
const DOT = 4; // the radius of a dot, in pixels

/** A river: its element, and `end`, which ends it. @typedef {{ element: HTMLElement, end(): void }} River */

/**
 * The words beside a curve: those of one side only; where there are none, the nearest.
 * @type {(own: NearWords, others: NearWords) => { text: string, alone: boolean }[]}
 */
const beside = (own, others) => {
  const texts = namedWords(own).map(([text]) => text);
  const other = new Set(namedWords(others).map(([text]) => text));
  const alone = texts.filter((text) => !other.has(text)).slice(0, NAMED);
  return alone.length
    ? alone.map((text) => ({ text, alone: true }))
    : texts.slice(0, 1).map((text) => ({ text, alone: false }));
};

/** A smooth line through points, which are one below the other. @type {(points: [x: number, y: number][]) => string} */
const smooth = (points) =>
  points
    .map(([x, y], at) => {
      if (!at) return `${x} ${y}`;
      const [before, above] = points[at - 1];
      const middle = (above + y) / 2;
      return `C${before} ${middle} ${x} ${middle} ${x} ${y}`;
    })
    .join("");

/** @type {(values: number[]) => { least: number, widest: number }} The ends of the scales of cosines and angles. */
const endsOf = (values) => {
  const negative = values.some((value) => value < 0);
  return { least: negative ? -1 : 0, widest: negative ? 180 : 90 };
};

/**
 * The river of two words. `near` are the nearest words of both sides, null while they aren't known; `chosen` is the
 * layer whose attention is shown below; `choose` is called with another.
 * @type {(room: DrawingRoom, of: {
 *   names: [string, string], parting: Parting, near: [NearWords[], NearWords[]] | null, chosen: number,
 *   choose: (layer: number) => void,
 * }) => River}
 */
export const riverOf = ({ page, colour }, { names, parting: { cosines }, near, chosen, choose }) => {
  const { least, widest } = endsOf(cosines);
  const angles = cosines.map(angleOf);
  const last = cosines.length - 2;
  const [curves, line] = [shape("svg", { class: "curves" }), shape("svg", { class: "curves" })];

  /** @type {(words: { text: string, alone: boolean }[]) => Child} */
  const texts = (words) =>
    !words.length ? element("span", { class: "near" }, "–") : words.map(({ text, alone }, at) => [
      at ? ", " : "", element("bdi", { class: alone ? "near alone" : "near" }, text),
    ]);

  /** @type {(at: number) => HTMLElement} */
  const row = (at) => {
    const layer = at - 1;
    const sides = near ? [beside(near[0][at], near[1][at]), beside(near[1][at], near[0][at])] : null;
    /** @type {(nth: number, kind: string) => HTMLElement} */
    const words = (nth, kind) => element("span", { class: kind }, sides ? texts(sides[nth]) : "");
    const numbers = { cosine: hundredths(cosines[at]), angle: page.say("compare.degrees", { angle: Math.round(angles[at]) }) };
    const name = at ? `L${layer}` : page.say("compare.embedding");
    const content = [
      element("span", { class: "layer" }, name),
      words(0, "one"),
      element("span", { class: "gap" }),
      words(1, "two"),
      element(
        "span",
        { class: "cosine" },
        element("data", { class: "number", value: cosines[at] }, numbers.cosine),
        element("data", { class: "quiet", value: angles[at] }, numbers.angle),
        element("i", { class: "curve-room" }),
      ),
    ];
    if (!at) return element("div", { class: "river-row" }, content);
    const said = (sides ?? []).map((list, nth) => `${names[nth]}: ${list.map(({ text }) => text).join(" ")}`);
    const label = [page.say("compare.row", { layer, ...numbers }), ...said].join("; ");
    return element(
      "button",
      {
        type: "button", class: "river-row", role: "radio", "aria-checked": String(layer === chosen), "aria-label": label,
        tabindex: layer === chosen ? 0 : -1, on: { click: () => choose(layer) },
      },
      content,
    );
  };

  const rows = cosines.map((_, at) => row(at));
  const scale = page.say("compare.degrees.to", { widest });
  const head = element(
    "div",
    { class: "river-row river-head" },
    element("span", { class: "layer" }),
    element("bdi", { class: "one" }, names[0], element("i", { class: "dot" })),
    element("span", { class: "gap", title: page.say("compare.gap") }, scale),
    element("bdi", { class: "two" }, element("i", { class: "dot hollow" }), names[1]),
    element(
      "span",
      { class: "cosine" },
      element("span", { class: "name" }, page.say("compare.cosine")),
      element("span", { class: "curve-ends" }, element("span", {}, figure(least, 0)), element("span", {}, "1")),
    ),
  );
  const group = element(
    "div",
    {
      class: cosines.length > 14 ? "river tight" : "river", role: "radiogroup", "data-focus": "river",
      "aria-label": page.say("compare.layers"),
    },
    head, rows, curves, line,
  );
  group.addEventListener("keydown", (event) => {
    /** @type {Record<string, number>} */
    const places = {
      ArrowUp: chosen - 1, ArrowLeft: chosen - 1, ArrowDown: chosen + 1, ArrowRight: chosen + 1, Home: 0, End: last,
    };
    const to = places[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (to >= 0 && to <= last) choose(to);
  });

  /** The middle of each row, and the left and right of a part of it, from the corner of the group. */
  /** @type {(part: string) => { left: number, width: number, middles: number[] }} */
  const measured = (part) => {
    const corner = group.getBoundingClientRect();
    const { left, width } = (rows[0].querySelector(part) ?? rows[0]).getBoundingClientRect();
    const boxes = rows.map((one) => one.getBoundingClientRect());
    return { left: left - corner.left, width, middles: boxes.map((box) => box.top + box.height / 2 - corner.top) };
  };

  const draw = () => {
    const [ink, ground, weight] = [colour("--text"), colour("--ground"), colour("--weight")];
    for (const svg of [curves, line]) {
      svg.setAttribute("width", String(group.clientWidth));
      svg.setAttribute("height", String(group.clientHeight));
    }
    const { left, width, middles } = measured(".gap");
    /** @type {(side: 1 | -1) => [x: number, y: number][]} */
    const points = (side) =>
      angles.map((angle, at) => [left + (width / 2) * (1 + (side * angle) / widest), middles[at]]);
    const [one, two] = [points(-1), points(1)];
    const area = `M${smooth(one)}L${smooth([...two].reverse())}Z`;
    /** @type {(list: [x: number, y: number][], fill: string, stroke: string) => Node[]} */
    const dots = (list, fill, stroke) =>
      list.map(([cx, cy]) => shape("circle", { cx, cy, r: DOT, fill, stroke, "stroke-width": 1.5 }));
    /** @type {(list: [x: number, y: number][], stroke: string) => Node} */
    const path = (list, stroke) => shape("path", { d: `M${smooth(list)}`, fill: "none", stroke, "stroke-width": 2 });
    curves.replaceChildren(
      shape("path", { d: area, fill: weight, "fill-opacity": 0.14 }),
      path(one, ink), path(two, ink), ...dots(two, ground, ink), ...dots(one, ink, ink),
    );
    const track = measured(".curve-room");
    if (!track.width) {
      line.replaceChildren();
      return;
    }
    /** @type {[x: number, y: number][]} */
    const values = cosines.map((value, at) => [
      track.left + (track.width * (value - least)) / (1 - least), track.middles[at],
    ]);
    const straight = values.map(([x, y]) => `${x} ${y}`).join("L");
    line.replaceChildren(
      shape("path", { d: `M${straight}`, fill: "none", stroke: weight, "stroke-width": 2 }),
      ...values.map(([cx, cy]) => shape("circle", { cx, cy, r: 3, fill: weight })),
    );
  };
  const observer = new ResizeObserver(draw);
  observer.observe(group);
  return { element: group, end: () => observer.disconnect() };
};
