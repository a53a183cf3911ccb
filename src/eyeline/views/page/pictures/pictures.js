// The sentence view of an image: its patches, and for one of them, or for [CLS], where it looks.

import { button, element } from "../drawing/dom.js";
import { onScale } from "../drawing/labels.js";
import { refocused } from "../drawing/word_picker.js";
import { svgOf } from "../drawing/svg.js";
import { createControls, onSentenceKeys } from "../sentence/controls.js";
import { lookOf } from "../sentence/looks.js";
import { createNumbersPanel } from "../sentence/numbers_panel.js";
import { strongest } from "../sentence/row_numbers.js";
import { sentenceOf } from "../sentence/telling.js";
import { TokenSelection } from "../sentence/token_selection.js";
import { patchOf, titled } from "../sentence/unit_names.js";
import { overlaid } from "./overlay.js";
import { createPatchGrid } from "./patch_grid.js";

const NUMBERED = 5; // the strongest patches that have their numbers on them

/** The view, of traces that have an image. @type {(page: Page) => View} */
export const createPictures = (page) => {
  const selection = new TokenSelection(page);
  let loaded = -1; // the trace whose image is shown
  let said = "";
  /** @type {number | null} */
  let pointed = null;
  /** @type {Reading | null} What was painted last. */
  let painted = null;

  /** @returns {ImageEntry} */
  const image = () => {
    const { image: entry } = page.trace;
    if (!entry) throw new Error("this trace has no image");
    return entry;
  };
  const units = () => selection.units("queries");
  /** The index of a patch among the units. @type {(patch: number) => number} */
  const unitOf = (patch) => page.trace.queries.unitOf(image().first + patch, page.state.unit).index;
  /** @type {() => UnitRange} */
  const range = () => [0, units().length];

  /** @type {(unit: number) => void} */
  const pick = (unit) => {
    const one = selection.selected;
    const token = one?.pinned && one.unit === unit ? null : units()[unit].first;
    [selection.hovered, pointed] = [null, null];
    page.set({ token });
  };
  /** @type {(name: "hovered" | "focused", unit: number | null) => void} */
  const notice = (name, unit) => {
    if (page.state.token !== null && name === "hovered") pointed = unit;
    else selection[name] = unit === null ? null : { side: "queries", unit };
    paint();
  };
  const turn = () => page.set({ toward: page.state.toward === "from" ? "to" : "from" });

  const grid = createPatchGrid({
    hover: (patch) => notice("hovered", patch === null ? null : unitOf(patch)),
    focus: (patch) => notice("focused", patch === null ? null : unitOf(patch)),
    pick: (patch) => pick(unitOf(patch)),
  });
  const chips = element("div", { class: "chips" });
  const panel = createNumbersPanel(page, selection, {
    pick,
    point: (unit) => {
      pointed = unit;
      paint();
    },
  });
  const controls = createControls(page, turn);
  const shown = element("div", { class: "stage" }, chips, grid.element);
  const whole = element("div", { class: "sentence", "data-layout": "picture" }, shown, panel.element);

  /** The tokens that are no patches, each with its number. @type {(seen: Reading) => HTMLElement[]} */
  const others = (seen) =>
    units().filter((unit) => patchOf(page, unit) === null).map((unit) => {
      const { kind = "", fill = "", label, light } = lookOf(page, seen, "queries", units(), unit.index, {
        hidden: false, pointed: unit.index === pointed,
      });
      const weight = seen.weights?.[unit.index];
      const { end } = seen;
      const number = page.state.special !== "out" && weight !== undefined ? ` ${onScale(weight, end)}` : "";
      return button([element("bdi", {}, titled(page, unit, units())), number], () => pick(unit.index), {
        class: "token label", "data-kind": kind, "aria-label": label, "data-focus": `unit-${unit.index}`,
        tabindex: 0,
        "aria-pressed": String(kind.includes("pinned")),
        style: fill ? { background: fill, color: light ? "#fff" : "#000" } : {},
      });
    });

  const paint = () => {
    if (!selection.ready) return;
    const seen = (painted = selection.read(range));
    const { numbers, end } = seen;
    const best = numbers ? strongest(numbers.map((number, at) => (patchOf(page, units()[at]) === null ? NaN : number)),
      NUMBERED) : [];
    const stop = [seen.one, selection.focused].map((one) => one && patchOf(page, units()[one.unit]));
    grid.paint((patch) => {
      const unit = unitOf(patch);
      const { kind = "", label } = lookOf(page, seen, "queries", units(), unit, {
        hidden: selection.hides(seen, unit), pointed: unit === pointed,
      });
      const depth = numbers && numbers[unit] > 0 ? numbers[unit] / end : 0;
      const rank = best.indexOf(unit);
      return {
        fill: depth ? overlaid(depth, page.dark) : "",
        kind, label, rank: rank < 0 ? null : rank + 1,
      };
    }, stop.find((patch) => patch !== null) ?? 0, numbers !== null);
    refocused(chips, () => chips.replaceChildren(...others(seen)));
    panel.show(seen, { pointed, long: false, hidden: false, generated: false });
    page.retell();
    if (seen.kind === "none" && !numbers) selection.average(paint);
  };

  /** Have the image of the trace shown. */
  const load = async () => {
    const { index } = page.trace;
    if (loaded === index) return;
    loaded = index;
    const { reply, buffers } = await page.host.ask({ kind: "image", trace: index });
    const bitmap = await createImageBitmap(new Blob(buffers, { type: reply.media }));
    if (loaded === index) grid.picture(bitmap);
  };

  const sentence = () => (selection.ready && painted ? sentenceOf(page, painted) : "");

  const update = async () => {
    const current = page.current();
    const attention = await page.attention();
    if (!current()) return;
    selection.take(attention);
    if (page.state.token === null) pointed = null;
    controls.update(false);
    grid.show(image(), page.say("picture.grid"));
    paint();
    const told = sentence();
    if (selection.selected && told !== said) page.announce((said = told));
    await load();
  };

  onSentenceKeys(page, [whole, controls.element], turn, () => page.set({ token: null }));

  return {
    element: whole,
    controls: controls.element,
    uses: ["trace", "layer", "head", "special"],
    sentence,
    update,
    numbers: () => selection.table(range),
    picture: () => svgOf(whole, [shown, panel.element]),
    destroy: () => selection.rest(),
  };
};
