// The sentence view: the text, and for one token the weights that it gives or receives.

import { needsLight, ramp, shade } from "../drawing/colour.js";
import { createDirection } from "./direction.js";
import { element, targetOf } from "../drawing/dom.js";
import { createMinimap } from "./minimap.js";
import { percent } from "../drawing/labels.js";
import { createLinks } from "./links.js";
import { fullShade, strongest } from "./shares.js";
import { createPager } from "./pager.js";
import { svgOf } from "../drawing/svg.js";
import { TokenSelection } from "./token_selection.js";
import { createBarList } from "./bar_list.js";
import { createThreshold } from "./threshold.js";
import { called, createTokenLine, titled } from "./token_line.js";

const WINDOW = { wide: 240, narrow: 120 }; // units of a long line drawn at once
const LINKS = 48; // links drawn at once
const FAINT = 0.02; // of full shade; less isn't drawn

/**
 * The place of a strength on the colour scale, without its far end, since text has to be legible on the colour.
 * @type {(strength: number) => number}
 */
const toned = (strength) => 0.04 + 0.66 * strength;

/** The view. @type {(page: Page) => View} */
export const createSentence = (page) => {
  const selection = new TokenSelection(page);
  const first = { queries: 0, keys: 0 }; // the first drawn unit of each side
  let place = ""; // the key of the drawn line
  let pinned = ""; // the key of the pinned unit
  let said = ""; // the last announced sentence
  let narrow = page.narrow.matches;
  /** @type {number | null} */
  let pointed = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} The timer of the next slice of work. */
  let later;
  /** @type {Selected | null} The unit that gets the focus when the numbers arrive. */
  let sent = null;

  // The drawn units of a side.
  /** @type {(side: Side) => UnitRange} */
  const range = (side) => {
    const count = selection.units(side).length;
    const size = (narrow ? WINDOW.narrow : WINDOW.wide) / selection.sides.length;
    if (count <= 1.25 * size) return [0, count];
    first[side] = Math.min(Math.max(first[side], 0), count - size);
    return [first[side], first[side] + size];
  };
  /** @type {(side: Side, unit: number) => void} */
  const reach = (side, unit) => {
    const [start, end] = range(side);
    if (unit < start || unit >= end) first[side] = Math.round(unit - (end - start) / 2);
  };

  /** @type {(side: Side, unit: number) => void} */
  const pin = (side, unit) => {
    const token = selection.units(side)[unit].first;
    if (page.trace.crossing) page.set({ token, toward: side === "queries" ? "from" : "to" });
    else page.set({ token });
  };
  /** @type {(unit: number | null) => void} */
  const point = (unit) => {
    if (unit === pointed) return;
    pointed = unit;
    paint();
  };
  const turn = () => {
    const toward = page.state.toward === "from" ? "to" : "from";
    page.set(page.trace.crossing ? { toward, token: null } : { toward });
  };

  const stage = element("div", { class: "stage" });
  const links = createLinks(stage);
  /** @param {Side} side */
  const row = (side) => {
    /** @type {(unit: number | null) => Selected | null} */
    const own = (unit) => (unit === null ? null : { side, unit });
    const tokens = createTokenLine(page, side, {
      hover: (unit) => {
        if (page.state.token !== null) point(unit);
        else if (unit !== selection.hovered?.unit || side !== selection.hovered.side) {
          selection.hovered = own(unit);
          paint();
        }
      },
      focus: (unit, next) => {
        // the list's rows belong to this unit
        if (unit === null && next instanceof Node && list.element.contains(next)) return;
        selection.focused = own(unit);
        paint();
      },
      pick: (unit) => {
        const one = selection.selected;
        [selection.hovered, pointed] = [null, null];
        if (one?.pinned && one.side === side && one.unit === unit) page.set({ token: null });
        else pin(side, unit);
      },
      move: (unit) => {
        reach(side, unit);
        [selection.focused, selection.hovered] = [own(unit), null];
        draw();
        tokens.focus(unit);
        if (page.state.token !== null) pin(side, unit);
      },
    });
    const pager = createPager(page, {
      go: (step) => {
        const [start, end] = range(side);
        first[side] = start + step * (end - start);
        draw();
      },
      jump: (unit) => pin(side, unit),
      from: () => (selection.selected?.side === side ? selection.selected.unit : range(side)[0] - 1),
    });
    const minimap = createMinimap((unit) => {
      const [start, end] = range(side);
      first[side] = Math.round(unit - (end - start) / 2);
      draw();
    });
    const caption = element("p", { class: "caption", "aria-hidden": "true" });
    const parts = side === "queries" ? [caption, tokens.element] : [tokens.element, caption];
    const whole = element("div", { class: "row" }, ...parts, minimap.element, pager.element);
    return { tokens, pager, minimap, caption, element: whole };
  };
  const rows = { queries: row("queries"), keys: row("keys") };

  const list = createBarList(page, {
    pick: (unit) => {
      const { side } = selection.read(range);
      sent = { side, unit };
      pin(side, unit);
    },
    point,
  });
  list.element.addEventListener("focusout", (event) => {
    const { relatedTarget: next } = event;
    if (selection.focused === null || (next instanceof Node && list.element.contains(next))) return;
    selection.focused = null;
    paint();
  });
  const direction = createDirection(page, turn);
  const threshold = createThreshold(page);
  const tools = element("div", { class: "pickers" }, direction.element, threshold.element);
  const whole = element("div", { class: "sentence" }, tools, stage, list.element);

  /** @type {(seen: Reading, side: Side, unit: number, hidden: boolean) => string} */
  const label = (seen, side, unit, hidden) => {
    const name = called(page, selection.units(side)[unit], selection.units(side));
    const { shares } = seen;
    if (seen.one?.side === side && seen.one.unit === unit && shares) {
      /** @type {(at: number) => string} */
      const named = (at) => (at === seen.own ? page.say("itself") : titled(seen.units[at], seen.units));
      const names = strongest(shares, 3).map((at) => `${named(at)} ${percent(shares[at])}`).join(", ");
      return page.say(`sentence.label.${seen.kind}`, { name, names: names || page.say("nothing") });
    }
    if (hidden) return page.say("sentence.label.hidden", { name });
    if (seen.side !== side || !shares || !(shares[unit] >= 0)) return name;
    return page.say("sentence.label.share", { name, share: percent(shares[unit]) });
  };

  // The style of a unit.
  /** @type {(seen: Reading, full: number, side: Side, unit: number) => Look} */
  const look = (seen, full, side, unit) => {
    const [there, one] = [seen.side === side, seen.one?.side === side && seen.one.unit === unit];
    const hidden = there && selection.hides(seen, unit);
    const kinds = [
      one && `asked ${seen.kind}`,
      one && seen.one?.pinned && "pinned",
      there && !one && unit === pointed && "pointed",
      hidden && "barred",
    ];
    const entry = { kind: kinds.filter(Boolean).join(" "), label: label(seen, side, unit, hidden) };
    const strength = there && seen.shares && !hidden ? Math.min(seen.shares[unit] / full, 1) : 0;
    if (!(strength >= FAINT)) return entry;
    const depth = toned(strength);
    return { ...entry, fill: shade(depth, page.dark), light: needsLight(ramp(page.dark)[Math.round(depth * 255)]) };
  };

  // The links of a reading.
  /** @type {(seen: Reading, full: number) => { from: Element, to: Element, strength: number, faded: boolean }[]} */
  const linked = ({ one, side, shares }, full) => {
    const from = one && rows[one.side].tokens.span(one.unit);
    if (!from || !shares) return [];
    const least = Math.max(page.state.threshold, 2 * FAINT * full);
    const [start, end] = range(side);
    return strongest(shares.subarray(start, end), LINKS)
      .map((away) => away + start)
      .filter((at) => at === pointed || shares[at] >= least)
      .flatMap((at) => {
        const to = rows[side].tokens.span(at);
        const faded = pointed !== null && at !== pointed;
        return to ? [{ from, to, strength: Math.min(shares[at] / full, 1), faded }] : [];
      });
  };

  // The minimap's weights, 0 for units that are set aside.
  /** @type {(seen: Reading) => Float64Array | null} */
  const counted = ({ kind, weights, shares, kept }) =>
    weights ? weights.map((weight, at) => (kind === "to" || kept.has(at) ? weight : 0)) : shares;

  const paint = () => {
    if (!selection.ready) return;
    const seen = selection.read(range);
    const full = seen.shares ? fullShade(seen.shares) : 1;
    const drawn = { hidden: false, generated: false };
    for (const side of selection.sides) {
      const [{ prompt }, units] = [page.trace[side], selection.units(side)];
      const stop = [seen.one, selection.focused].find((unit) => unit?.side === side)?.unit ?? null;
      rows[side].tokens.paint((unit) => {
        const drawing = look(seen, full, side, unit);
        drawn.hidden ||= drawing.kind?.includes("barred") ?? false;
        drawn.generated ||= prompt !== null && units[unit].first >= prompt;
        return drawing;
      }, stop);
      const one = seen.one?.side === side ? seen.one.unit : null;
      const marked = seen.kind === "to" ? "--key" : "--query";
      rows[side].minimap.draw(side === seen.side ? counted(seen) : null, units.length, range(side), one, marked);
    }
    const [start, end] = range(seen.side);
    list.show({ ...seen, ...drawn, pointed, long: end - start < seen.units.length, joined: !selection.map.plain });
    links.draw(linked(seen, full), (strength) => shade(0.35 + 0.4 * strength, page.dark));
    clearTimeout(later);
    if (!seen.whole) later = setTimeout(paint);
    if (seen.kind === "none" && !seen.shares) selection.average(paint);
  };

  const draw = () => {
    stage.dataset.crossing = String(page.trace.crossing);
    if (stage.childElementCount !== 1 + selection.sides.length) {
      stage.replaceChildren(links.element, ...selection.sides.map((side) => rows[side].element));
    }
    for (const side of selection.sides) {
      const { caption, tokens, pager } = rows[side];
      const units = selection.units(side);
      const labelled = new Set(selection.shown(side).filter((unit) => units[unit].special || !units[unit].text.trim()));
      caption.hidden = !page.trace.crossing;
      caption.textContent = page.say(`sentence.${side}`);
      tokens.show(page.trace[side], units, ...range(side), labelled);
      pager.update(units, ...range(side));
    }
    paint();
  };

  const update = async () => {
    const current = page.current();
    direction.update();
    threshold.update();
    const attention = await page.attention();
    if (!current()) return;
    selection.take(attention);
    if (page.state.token === null) pointed = null;
    const here = [page.state.trace, page.state.unit].join(" ");
    if (here !== place) Object.assign(first, { queries: 0, keys: 0 });
    place = here;
    const one = selection.selected;
    const now = one?.pinned ? [here, one.side, one.unit].join(" ") : "";
    if (one?.pinned && now !== pinned) reach(one.side, one.unit);
    pinned = now;
    draw();
    if (sent) rows[sent.side].tokens.focus(sent.unit);
    sent = null;
    if (one && list.text() !== said) page.announce((said = list.text()));
  };

  whole.addEventListener("keydown", (event) => {
    const typing = targetOf(event)?.matches("input, textarea, select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && page.state.token !== null) {
      [selection.focused, pointed] = [null, null];
      page.set({ token: null });
    } else if (event.key.toLowerCase() === "f") turn();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const resized = new ResizeObserver(() => {
    const before = narrow;
    narrow = page.narrow.matches;
    if (selection.ready) (before === narrow ? paint : draw)();
  });
  resized.observe(stage);

  return {
    element: whole,
    update,
    numbers: () => selection.table(range),
    picture: () => svgOf(whole, [stage, list.element]),
    destroy: () => {
      resized.disconnect();
      clearTimeout(later);
      selection.rest();
    },
  };
};
