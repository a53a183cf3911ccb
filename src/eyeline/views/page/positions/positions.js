// Positions: what a shuffle changes and what it doesn't, and how models tell their tokens' positions.

import { Canvases } from "../drawing/canvases.js";
import { button, element, nodesOf } from "../drawing/dom.js";
import { svgOf } from "../drawing/svg.js";
import { HostError } from "../host_error.js";
import { refocused } from "../drawing/word_picker.js";
import { clocks } from "./clocks.js";
import { sinusoids, speed, turnedScore } from "./formula.js";
import { bars, grid } from "./grid.js";
import { orderPart, orderTable } from "./order.js";
import { partnerOf, Rerun } from "./rerun.js";

const ROWS = 64; // the shown positions
const WIDTH = 64; // of the sinusoidal vectors that are drawn where the model has others
const REACH = 40; // the distances at which turned scores are drawn, on either side of 0
/** @type {PositionScheme[]} */
const SCHEMES = ["sinusoidal", "learned", "rotary"];

/** @type {Record<PositionScheme, string>} */
const FORMULAS = {
  sinusoidal: "p₂ᵢ = sin(p · 10000^(−2i/d)),  p₂ᵢ₊₁ = cos(p · 10000^(−2i/d))",
  learned: "x = E[token] + P[p]",
  rotary: "(x, y) → (x·cos pω − y·sin pω, x·sin pω + y·cos pω),  ω = 10000^(−2i/d)",
};

/** The trace whose host knows the positions of the current trace's model; null if none does. @type {(page: Page) => Trace | null} */
const source = ({ trace, traces }) =>
  traces.find((one) => one.positions && trace && one.model.name.split(",")[0] === trace.model.name.split(",")[0]) ?? null;

/** Whether the host refused; other errors are thrown on. @type {(error: unknown) => true} */
const missed = (error) => {
  if (error instanceof HostError) return true;
  throw error;
};

/** The view. @type {(page: Page) => View} */
export const createPositions = (page) => {
  const root = element("div", { class: "positions" });
  const canvases = new Canvases();
  /** @type {DrawingRoom} */
  const room = { page, canvases, colour: (name) => getComputedStyle(root).getPropertyValue(name) };
  let sentence = "";
  const rerun = new Rerun(page);
  const [first, over, under] = [element("div"), element("div"), element("div", { class: "under" })];

  /** @type {(shown: PositionScheme, own: PositionScheme | null) => HTMLElement} */
  const choices = (shown, own) =>
    element(
      "div",
      { class: "schemes", role: "group", "aria-label": page.say("positions.scheme") },
      SCHEMES.map((scheme) =>
        button(
          [page.say(`positions.${scheme}`), scheme === own ? element("small", {}, page.say("positions.of.model")) : null],
          () => page.set({ scheme }),
          { class: "plain", "aria-pressed": String(scheme === shown), "data-focus": `scheme-${scheme}` },
        ),
      ),
    );

  /** @type {(key: "position" | "against", name: string, kind?: string) => HTMLElement} */
  const slider = (key, name, kind = "") => {
    const input = element("input", { type: "range", min: 0, max: ROWS - 1, step: 1, "aria-label": name, "data-focus": key });
    input.value = String(page.state[key]);
    input.addEventListener("input", () => page.set({ [key]: Number(input.value) }));
    const value = element("span", { class: "number" }, page.state[key]);
    return element("label", { class: `position-slider ${kind}` }, element("span", {}, name), input, value);
  };

  // The sliders are made anew only when their names change: an element that is put in anew loses its drag.
  const sliders = { built: "", element: element("div", { class: "position-sliders" }) };
  root.append(first, element("section", { class: "scheme" }, over, sliders.element, under));
  /** @type {(scheme: PositionScheme, used: boolean, rows: number) => void} */
  const slide = (scheme, used, rows) => {
    sliders.element.hidden = !used;
    const built = `${page.language} ${scheme}`;
    if (built !== sliders.built) {
      sliders.built = built;
      sliders.element.replaceChildren(
        ...(scheme === "rotary"
          ? [
            slider("position", page.say("positions.query.at"), "query"),
            slider("against", page.say("positions.key.at"), "key"),
            button(page.say("positions.both"), () => move(1), { class: "plain", "data-focus": "both" }),
          ]
          : [slider("position", page.say("positions.position"))]),
      );
    }
    for (const key of /** @type {const} */ (["position", "against"])) {
      const input = sliders.element.querySelector(`input[data-focus=${key}]`);
      if (!(input instanceof HTMLInputElement)) continue;
      input.max = String(rows - 1);
      input.value = String(page.state[key]);
      input.nextElementSibling?.replaceChildren(String(page.state[key]));
    }
  };

  /** Move the query and the key together. @type {(by: number) => void} */
  const move = (by) => {
    const { position, against } = page.state;
    const top = Math.max(position, against) + by;
    page.set(top < ROWS ? { position: position + by, against: against + by } : { position: position - against, against: 0 });
  };

  /** @type {(vectors: PositionVectors, own: boolean) => HTMLElement[]} */
  const vectorsPart = (vectors, own) => {
    const at = Math.min(page.state.position, vectors.rows - 1);
    const alike = Array.from({ length: vectors.rows }, (_, other) => vectors.cosines[at * vectors.rows + other]);
    const name = page.say(own ? "positions.alike.own" : "positions.alike", { position: at });
    return [grid(room, vectors, page.say("positions.picture")), bars({ name, values: alike, at, end: 1 })];
  };

  /** @type {(speeds: ArrayLike<number>) => HTMLElement[]} */
  const rotaryPart = (speeds) => {
    const { position: m, against: n } = page.state;
    const scores = Array.from({ length: 2 * REACH + 1 }, (_, at) => turnedScore(at - REACH, speeds));
    const distance = m - n;
    const score = turnedScore(distance, speeds).toFixed(3).replace("-", "−");
    return [
      clocks(page, speeds, m, n),
      element("p", { class: "verdict", role: "status" }, page.say("positions.distance", { m, n, distance: String(distance).replace("-", "−"), score })),
      bars({ name: page.say("positions.by.distance"), values: scores, at: Math.abs(distance) <= REACH ? distance + REACH : -1, end: 1, first: -REACH }),
    ];
  };

  /**
   * What stands above and below the sliders, for one way; `missing` says why the host hasn't the model's own numbers.
   * @type {(scheme: PositionScheme, of: Trace | null, missing?: string) => Promise<{ above: Child[], below: Child[], rows?: number }>}
   */
  const schemePart = async (scheme, of, missing) => {
    const own = of?.positions === scheme ? of : null;
    const found = own ? await page.host.positions(own) : null;
    const model = own?.model.name ?? "";
    /** @type {(from: string) => Child[]} */
    const above = (from) => [
      element("p", { class: "why" }, page.say(`positions.${scheme}.why`)),
      element("p", { class: "position-formula", dir: "ltr" }, FORMULAS[scheme]),
      element("p", { class: "quiet" }, from),
    ];
    const byFormula = page.say("positions.from.formula", { width: WIDTH });
    if (scheme === "rotary") {
      const speeds = found?.numbers ?? Array.from({ length: WIDTH / 2 }, (_, pair) => speed(pair, WIDTH));
      const from = found ? page.say("positions.speeds.of", { model, width: found.width }) : byFormula;
      return { above: above(from), below: rotaryPart(speeds) };
    }
    if (scheme === "learned" && !found) return { above: above(missing ?? page.say("positions.none.learned")), below: [] };
    const vectors = found ?? sinusoids(ROWS, WIDTH);
    const { rows, columns, width } = vectors;
    const from = found ? page.say("positions.from.model", { model, rows, columns, width }) : byFormula;
    return { above: above(from), below: vectorsPart(vectors, found !== null), rows };
  };

  const update = async () => {
    const current = page.current();
    const of = source(page);
    const own = of?.positions ?? null;
    // A large file lacks the numbers of its model.
    const missing = of !== null && (await page.host.positions(of).then(() => false, missed));
    const scheme = page.state.scheme ?? (missing ? null : own) ?? SCHEMES[0];
    const reason = missing ? page.say("positions.not.here", { model: of?.model.name ?? "" }) : undefined;
    const { above, below, rows = ROWS } = await schemePart(scheme, missing ? null : of, reason);
    const again = await rerun.part();
    if (!current()) return;
    const order = orderPart(page);
    sentence = page.say(order.kept ? "positions.sentence.same" : "positions.sentence.other");
    slide(scheme, below.length > 0, rows);
    refocused(first, () => first.replaceChildren(...nodesOf([order.element, again])));
    const head = element("h3", {}, page.say("positions.schemes"));
    refocused(over, () => over.replaceChildren(...nodesOf([head, choices(scheme, own), above])));
    under.replaceChildren(...nodesOf(below));
    canvases.sweep();
  };

  return {
    element: root,
    get uses() {
      if (partnerOf(page)) return /** @type {Control[]} */ (["trace", "layer", "head"]);
      return /** @type {Control[]} */ (page.traces.length > 1 ? ["trace"] : []);
    },
    places: () => {
      const { state } = page;
      if (partnerOf(page)) return [[state.trace, state.layer, state.head]];
      return source(page) ? [[state.trace, null, null]] : [];
    },
    sentence: () => sentence,
    update,
    numbers: () => orderTable(page),
    picture: () => svgOf(root, [...root.children]),
    destroy: () => canvases.clear(),
  };
};
