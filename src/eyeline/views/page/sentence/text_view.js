// The sentence view of a text: the words, and for one of them the numbers that it gives or receives.

import { element } from "../drawing/dom.js";
import { createControls, onSentenceKeys } from "./controls.js";
import { fitted } from "./fitting.js";
import { createLinks } from "./links.js";
import { lookOf } from "./looks.js";
import { createNumbersPanel } from "./numbers_panel.js";
import { strongest } from "./row_numbers.js";
import { svgOf } from "../drawing/svg.js";
import { sentenceOf } from "./telling.js";
import { createTextRow } from "./text_row.js";
import { TokenSelection } from "./token_selection.js";

const WINDOW = { wide: 1500, narrow: 700 }; // units of a long text drawn at once
const NOTICED = 0.005; // smaller numbers aren't written beneath words where these take several lines

/** The view. @type {(page: Page) => View} */
export const createTextView = (page) => {
  const selection = new TokenSelection(page);
  const first = { queries: 0, keys: 0 }; // the first drawn unit of each side
  let place = ""; // the key of the drawn line
  let pinned = ""; // the key of the pinned unit
  let said = ""; // the last announced sentence
  /** @type {TextLayout} */
  let layout = { kind: "line", size: 40 };
  let fromRight = false; // whether the text begins at the right
  /** @type {number | null} */
  let pointed = null;
  /** @type {Reading | null} What was painted last. */
  let painted = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} The timer of the next slice of work. */
  let later;
  /** @type {Selected | null} The unit that gets the focus when the numbers arrive. */
  let sent = null;

  // The drawn units of a side.
  /** @type {(side: Side) => UnitRange} */
  const range = (side) => {
    const count = selection.units(side).length;
    const size = (page.narrow.matches ? WINDOW.narrow : WINDOW.wide) / selection.sides.length;
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
    const made = createTextRow(page, side, {
      hover: (unit) => {
        if (page.state.token !== null) point(unit);
        else if (unit !== selection.hovered?.unit || side !== selection.hovered.side) {
          selection.hovered = own(unit);
          paint();
        }
      },
      focus: (unit, next) => {
        // the list's rows belong to this unit
        if (unit === null && next instanceof Node && panel.list.contains(next)) return;
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
        made.tokens.focus(unit);
        if (page.state.token !== null) pin(side, unit);
      },
      go: (step) => {
        const [start, end] = range(side);
        first[side] = start + step * (end - start);
        draw();
        made.reveal(range(side)[0]);
      },
      jump: (unit) => pin(side, unit),
      from: () => (selection.selected?.side === side ? selection.selected.unit : made.visible()[0] - 1),
      centre: (unit) => {
        reach(side, unit);
        draw();
        made.reveal(unit);
      },
      scrolled: () => {
        if (selection.ready && painted) made.mark(painted);
      },
    });
    return made;
  };
  const rows = { queries: row("queries"), keys: row("keys") };

  // The look, from query to key, that a unit's bar or link is of.
  page.lookOf = (at) => {
    const { one, kind, units } = selection.read(range);
    const own = one && selection.units(one.side)[one.unit];
    return own && (kind === "to" ? [units[at], own] : [own, units[at]]);
  };
  const panel = createNumbersPanel(page, selection, {
    beside: page.editing?.cutter,
    pick: (unit) => {
      const { side } = selection.read(range);
      sent = { side, unit };
      pin(side, unit);
    },
    point,
  });
  panel.list.addEventListener("focusout", (event) => {
    const { relatedTarget: next } = event;
    if (selection.focused === null || (next instanceof Node && panel.list.contains(next))) return;
    selection.focused = null;
    paint();
  });
  const controls = createControls(page, turn);
  const whole = element("div", { class: "sentence" }, stage, panel.element);

  // The links of a reading: the strongest, and the one that is pointed at.
  /** @type {(seen: Reading) => Parameters<typeof links.laid>[0]} */
  const linked = ({ kind, one, side, numbers, end }) => {
    const own = one && rows[one.side].tokens.span(one.unit);
    if (!own || !numbers || layout.kind === "column") return [];
    const places = strongest(numbers, page.state.links === "all" ? numbers.length : page.state.links);
    if (pointed !== null && numbers[pointed] > 0 && !places.includes(pointed)) places.push(pointed);
    return places.flatMap((at) => {
      const other = rows[side].tokens.span(at);
      if (!other) return [];
      const [seen, looker] = kind === "to" ? [own, other] : [other, own];
      return [{ at, seen, looker, share: numbers[at] / end, faded: pointed !== null && at !== pointed }];
    });
  };

  const paint = () => {
    if (!selection.ready) return;
    const seen = (painted = selection.read(range));
    const drawn = { hidden: false, generated: false };
    for (const side of selection.sides) {
      const [{ prompt }, units] = [page.trace[side], selection.units(side)];
      const stop = [seen.one, selection.focused].find((unit) => unit?.side === side)?.unit ?? null;
      rows[side].tokens.paint((unit) => {
        const hidden = seen.side === side && selection.hides(seen, unit);
        drawn.hidden ||= hidden;
        drawn.generated ||= prompt !== null && units[unit].first >= prompt;
        return lookOf(page, seen, side, units, unit, { hidden, pointed: unit === pointed });
      }, stop);
    }
    const all = selection.sides.flatMap((side) => rows[side].tokens.all().map(([, span]) => span));
    const width = layout.kind === "line" ? Math.min(Math.max(0.45 * layout.size, 12), 34) : 12;
    const drawLinks = links.laid(linked(seen), all, width, page.trace.crossing, fromRight);
    for (const side of selection.sides) {
      const hides = /** @param {number} unit */ (unit) => selection.hides(seen, unit);
      rows[side].write(seen, selection.units(side), layout.kind === "line" ? 0 : NOTICED, hides);
      if (layout.kind === "column") rows[side].mark(seen);
    }
    drawLinks();
    panel.show(seen, { pointed, long: layout.kind === "column", ...drawn });
    page.retell();
    clearTimeout(later);
    if (!seen.whole) later = setTimeout(paint);
    if (seen.kind === "none" && !seen.numbers) selection.average(paint);
  };

  // Lay the texts out anew: after another text, and in another width.
  const fit = () => {
    const { sides } = selection;
    const lines = sides.map((side) => rows[side].tokens.element);
    const count = Math.max(...sides.map((side) => selection.units(side).length));
    const broken = lines.some((line) => line.querySelector(".break"));
    const room = () => {
      fromRight = getComputedStyle(lines[0]).direction === "rtl";
      return stage.clientWidth - 16;
    };
    layout = fitted(lines, count, room, broken, page.narrow.matches);
    whole.dataset.layout = layout.kind;
    whole.style.setProperty("--size", `${layout.size}px`);
  };

  const draw = () => {
    whole.dataset.crossing = String(page.trace.crossing);
    if (stage.childElementCount !== 1 + selection.sides.length) {
      stage.replaceChildren(links.element, ...selection.sides.map((side) => rows[side].element));
    }
    for (const side of selection.sides) {
      const { caption, tokens } = rows[side];
      const units = selection.units(side);
      const labelled = new Set(selection.shown(side).filter((unit) => units[unit].special || !units[unit].text.trim()));
      caption.hidden = !page.trace.crossing;
      caption.textContent = page.say(`sentence.${side}`);
      tokens.show(page.trace[side], units, ...range(side), labelled);
    }
    fit();
    for (const side of selection.sides) {
      rows[side].pager.update(page.trace[side], selection.units(side), range(side), layout.kind === "column");
    }
    controls.update(layout.kind !== "column");
    paint();
  };

  const update = async () => {
    const current = page.current();
    const attention = await page.attention();
    if (!current()) return;
    selection.take(attention);
    if (page.state.token === null) pointed = null;
    const here = [page.trace.serial, page.state.unit].join(" ");
    if (here !== place) Object.assign(first, { queries: 0, keys: 0 });
    place = here;
    const one = selection.selected;
    const now = one?.pinned ? [here, one.side, one.unit].join(" ") : "";
    const fresh = one?.pinned && now !== pinned ? one : null;
    if (fresh) reach(fresh.side, fresh.unit);
    pinned = now;
    draw();
    if (fresh && layout.kind === "column") rows[fresh.side].reveal(fresh.unit);
    if (sent) rows[sent.side].tokens.focus(sent.unit);
    sent = null;
    const told = sentence();
    if (one && told !== said) page.announce((said = told));
  };

  const sentence = () => (selection.ready && painted ? sentenceOf(page, painted) : "");

  onSentenceKeys(page, [whole, controls.element], turn, () => {
    [selection.focused, pointed] = [null, null];
    page.set({ token: null });
  });

  let width = 0;
  const resized = new ResizeObserver(() => {
    if (!selection.ready || stage.clientWidth === width) return;
    width = stage.clientWidth;
    requestAnimationFrame(draw); // which changes the stage's height
  });
  resized.observe(stage);

  return {
    element: whole,
    controls: controls.element,
    uses: ["trace", "layer", "head", "unit", "special", "ahead", "padded"],
    sentence,
    update,
    numbers: () => selection.table(range),
    picture: () => svgOf(whole, [stage, panel.element]),
    destroy: () => {
      resized.disconnect();
      clearTimeout(later);
      selection.rest();
    },
  };
};
