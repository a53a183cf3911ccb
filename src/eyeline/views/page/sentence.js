// The sentence view: the text as typed, and for one of its tokens whom it looks at, or who looks at it.

import { needsLight, ramp, shade } from "./colour.js";
import { button, element } from "./dom.js";
import { named, percent } from "./labels.js";
import { createLinks } from "./links.js";
import { Totals, average, ceiling, given, received, strongest, work } from "./looks.js";
import { createPager } from "./pager.js";
import { pictured } from "./pictures.js";
import { createStrongest } from "./strongest.js";
import { createThreshold } from "./threshold.js";
import { called, createTokens, titled } from "./tokens.js";

const WINDOW = { wide: 240, narrow: 120 }; // units of a long line that are drawn at once
const LINKS = 48; // that are drawn at once
const WORK = 1.5e9; // multiplications, beyond which what all units get is not worked out unasked
const FAINT = 0.02; // of full shade: less is drawn as nothing

// How far along the colours a strength stands: text has to be read on them, so their far end is left out.
const toned = (strength) => 0.04 + 0.66 * strength;

export const createSentence = (page) => {
  let sight = null;
  let [totals, averages, pinned, said] = [null, null, null, ""];
  let [hovered, focused, pointed] = [null, null, null]; // {side, unit} of those under the pointer and the focus
  const first = { queries: 0, keys: 0 }; // of the units that are drawn

  const sides = () => (page.trace.crossing ? ["queries", "keys"] : ["queries"]);
  const units = (side) => page.trace[side].units(page.state.unit);

  const asked = () => {
    const { token, toward } = page.state;
    if (token === null) return hovered ?? focused;
    const side = page.trace.crossing && toward === "to" ? "keys" : "queries";
    return { side, unit: page.trace[side].unitOf(token, page.state.unit).index, pinned: true };
  };
  const towardOf = (one) => (page.trace.crossing ? { queries: "from", keys: "to" }[one.side] : page.state.toward);

  // What is drawn of a side as a word or a label, that which is asked about always.
  const shown = (side) => {
    const list = page.shown(units(side));
    const one = asked();
    return !one || one.side !== side || list.includes(one.unit) ? list : [...list, one.unit].sort((a, b) => a - b);
  };

  const range = (side) => {
    const count = units(side).length;
    const size = (page.narrow.matches ? WINDOW.narrow : WINDOW.wide) / sides().length;
    if (count <= 1.25 * size) return [0, count];
    first[side] = Math.min(Math.max(first[side], 0), count - size);
    return [first[side], first[side] + size];
  };
  const reach = (side, unit) => {
    const [start, end] = range(side);
    if (unit < start || unit >= end) first[side] = Math.round(unit - (end - start) / 2);
  };

  const stage = element("div", { class: "stage" });
  const links = createLinks(stage);
  const rows = Object.fromEntries(
    ["queries", "keys"].map((side) => {
      const own = (unit) => (unit === null ? null : { side, unit });
      const tokens = createTokens(page, side, {
        hover: (unit) => {
          if (page.state.token !== null) return point(unit);
          if (unit === hovered?.unit && side === hovered?.side) return undefined;
          hovered = own(unit);
          return paint();
        },
        focus: (unit) => {
          focused = own(unit);
          paint();
        },
        pick: (unit) => pick(side, unit),
        move: (unit) => {
          reach(side, unit);
          focused = own(unit);
          hovered = null;
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
        from: () => (asked()?.side === side ? asked().unit : range(side)[0] - 1),
      });
      const caption = element("p", { class: "caption", "aria-hidden": "true" });
      return [side, { tokens, pager, caption, element: element("div", { class: "row" }, side === "queries" && caption, tokens.element, side === "keys" && caption, pager.element) }];
    }),
  );
  stage.append(links.element, rows.queries.element, rows.keys.element);

  const pin = (side, unit) =>
    page.set({ token: units(side)[unit].first, ...(page.trace.crossing ? { toward: side === "queries" ? "from" : "to" } : {}) });
  const pick = (side, unit) => {
    const one = asked();
    if (one?.pinned && one.side === side && one.unit === unit) page.set({ token: null });
    else pin(side, unit);
  };
  const point = (unit) => {
    if (unit === pointed) return;
    pointed = unit;
    paint();
  };

  const list = createStrongest(page, {
    pick: (unit) => {
      const one = asked();
      const other = one && towardOf(one) === "to" ? "queries" : sides().at(-1);
      pin(other, unit);
    },
    point,
  });

  const turned = () =>
    page.set({ toward: page.state.toward === "from" ? "to" : "from", ...(page.trace.crossing ? { token: null } : {}) });
  const turns = ["from", "to"].map((toward) => button("", () => page.state.toward !== toward && turned(), { class: "plain", "data-toward": toward }));
  const turn = element("span", { class: "choices", role: "group" }, ...turns);
  const threshold = createThreshold(page);
  const whole = element("div", { class: "sentence" }, element("div", { class: "pickers" }, turn, threshold.element), stage, list.element);

  // Who looks at whom, of what is asked about; or what all get, if nothing is and that is known.
  const looks = () => {
    const one = asked();
    const back = one !== null && towardOf(one) === "to"; // the asked unit is a key, the others are queries
    const side = back ? "queries" : sides().at(-1);
    const common = {
      units: units(side), side, one, kind: one === null ? "none" : back ? "to" : "from",
      own: one && !page.trace.crossing ? one.unit : null,
      asked: one && units(one.side)[one.unit],
      ones: one && units(one.side), // the units that it is one of
      long: range(side)[1] - range(side)[0] < units(side).length,
      joined: page.state.unit === "words" && [...units("queries"), ...units(sides().at(-1))].some((unit) => unit.last - unit.first > 1),
      kept: new Set(shown(sides().at(-1))),
      shares: null, weights: null, aside: 0,
    };
    if (one === null) return { ...common, shares: averages };
    if (!back) return { ...common, ...given(sight, one.unit, shown(side)) };
    const keys = shown(sides().at(-1));
    const name = keys.join();
    if (totals?.name !== name) totals = { name, of: new Totals(sight, keys) };
    const [start, end] = range(side);
    const queries = shown(side);
    return { ...common, ...received(sight, one.unit, queries, totals.of, queries.filter((unit) => unit >= start && unit < end)) };
  };

  const pair = (seen, unit) => (seen.kind === "to" ? [unit, seen.one.unit] : [seen.one.unit, unit]);
  const hides = (seen, unit) => seen.one !== null && !sight.allowed(...pair(seen, unit));

  const label = (seen, side, unit) => {
    const name = called(page, units(side)[unit], units(side));
    if (seen.one?.side === side && seen.one.unit === unit) {
      const names = strongest(seen.shares, 3)
        .map((at) => `${at === seen.own ? page.say("itself") : titled(seen.units[at], seen.units)} ${percent(seen.shares[at])}`)
        .join(", ");
      return page.say(`sentence.label.${seen.kind}`, { name, names: names || page.say("nothing") });
    }
    if (seen.one === null || seen.side !== side || !(seen.shares[unit] >= 0)) return name;
    if (hides(seen, unit)) return page.say("sentence.label.hidden", { name });
    return page.say("sentence.label.share", { name, share: percent(seen.shares[unit]) });
  };

  // How a unit is drawn, of what is seen.
  const look = (seen, full, side, unit) => {
    const one = seen.one?.side === side && seen.one.unit === unit;
    const share = seen.side === side && seen.shares ? seen.shares[unit] : NaN;
    const kinds = [one ? `asked ${seen.kind}` : "", one && seen.one.pinned ? "pinned" : "", !one && unit === pointed && seen.side === side ? "pointed" : ""];
    const entry = { kind: kinds.join(" ").trim(), label: label(seen, side, unit) };
    if (seen.side === side && hides(seen, unit)) return { ...entry, kind: `${entry.kind} barred`.trim() };
    const strength = Math.min(share / full, 1);
    if (!(strength >= FAINT)) return entry;
    const depth = toned(strength);
    return { ...entry, fill: shade(depth, page.dark), light: needsLight(ramp(page.dark)[Math.round(depth * 255)]) };
  };

  const linked = (seen, full) => {
    if (seen.one === null) return [];
    const from = rows[seen.one.side].tokens.span(seen.one.unit);
    const { threshold: least } = page.state;
    return strongest(seen.shares, seen.shares.length)
      .filter((at) => at === pointed || (seen.shares[at] >= least && seen.shares[at] >= 2 * FAINT * full))
      .map((at) => ({ from, to: rows[seen.side].tokens.span(at), at, strength: Math.min(seen.shares[at] / full, 1) }))
      .filter((link) => link.from && link.to)
      .slice(0, LINKS)
      .map((link) => ({ ...link, faded: pointed !== null && link.at !== pointed }));
  };

  const paint = () => {
    if (!sight) return;
    const seen = looks();
    const full = seen.shares ? ceiling(seen.shares)[0] : 1;
    let hidden = false;
    for (const side of sides()) {
      const tabbable = seen.one?.side === side ? seen.one.unit : focused?.side === side ? focused.unit : null;
      rows[side].tokens.paint((unit) => {
        const drawn = look(seen, full, side, unit);
        hidden ||= drawn.kind.includes("barred");
        return drawn;
      }, tabbable);
    }
    list.show({ ...seen, hidden, pointed });
    links.draw(linked(seen, full), (strength) => shade(0.35 + 0.4 * strength, page.dark));
  };

  const draw = () => {
    stage.dataset.crossing = page.trace.crossing;
    for (const side of ["queries", "keys"]) {
      const row = rows[side];
      row.element.hidden = !sides().includes(side);
      if (row.element.hidden) continue;
      const labelled = new Set(shown(side).filter((unit) => units(side)[unit].special || !units(side)[unit].text.trim()));
      row.caption.textContent = page.trace.crossing ? page.say(`sentence.${side}`) : "";
      row.caption.hidden = !page.trace.crossing;
      row.tokens.show(page.trace[side], units(side), ...range(side), labelled);
      row.pager.update(units(side), ...range(side));
    }
    paint();
  };

  const explained = () => {
    turn.setAttribute("aria-label", page.say("toward"));
    for (const one of turns) {
      one.textContent = page.say(`toward.${one.dataset.toward}`);
      one.title = page.say("toward.key");
      one.setAttribute("aria-pressed", String(page.state.toward === one.dataset.toward));
    }
    threshold.update();
  };

  const averaged = async (current) => {
    const now = sight;
    const wanted = () => current() && asked() === null;
    const found = await average(now, page.shown(units("queries")), page.shown(units(sides().at(-1))), () => sight === now && wanted());
    if (!found || sight !== now) return;
    averages = found;
    if (asked() === null) paint();
  };

  const update = async () => {
    const current = page.current();
    explained();
    const found = await page.sight();
    if (!current()) return;
    const same = sight && sight.heads.every((head, at) => head === found.heads[at]) && sight.heads.length === found.heads.length && sight.queries === found.queries && sight.reduce === found.reduce;
    if (!same) [sight, hovered, pointed] = [found, null, null];
    averages = null;
    totals = null;
    const one = asked();
    const pin = one?.pinned ? `${page.state.trace} ${page.state.unit} ${one.side} ${one.unit}` : null;
    if (pin && pin !== pinned) reach(one.side, one.unit);
    pinned = pin;
    draw();
    if (one && list.text() !== said) page.announce((said = list.text()));
    if (one === null && work(sight) <= WORK) await averaged(current);
  };

  const pressed = (event) => {
    if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && page.state.token !== null) {
      [focused, pointed] = [null, null];
      page.set({ token: null });
    } else if (event.key.toLowerCase() === "f") turned();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  whole.addEventListener("keydown", pressed);

  const resized = new ResizeObserver(() => (page.narrow.matches === resized.narrow ? paint() : draw()));
  resized.observe(stage);

  const place = () => [page.state.layer + 1, typeof page.state.head === "number" ? page.state.head + 1 : page.state.head];

  const numbers = () => {
    const seen = sight && looks();
    const start = ["layer", "head"];
    if (!seen?.one) {
      const rowsOf = (seen?.shares ? [...seen.shares.entries()] : []).filter(([, share]) => share >= 0);
      return {
        name: "received", columns: [...start, "key_index", "key", "share"],
        rows: rowsOf.map(([at, share]) => [...place(), at, named(seen.units[at].text), share]),
      };
    }
    const entry = (at) => [at, named(seen.units[at].text)];
    const own = [seen.one.unit, named(seen.asked.text)];
    const share = (at) => {
      if (seen.kind === "from" || !seen.kept.has(at)) return Number.isNaN(seen.shares[at]) ? "" : seen.shares[at];
      return totals.of.of(at) > 0 ? seen.weights[at] / totals.of.of(at) : 0;
    };
    return {
      name: seen.kind === "from" ? "looks-at" : "looked-at-by",
      columns: [...start, "query_index", "query", "key_index", "key", "weight", "share"],
      rows: seen.units.map((_, at) => [...place(), ...(seen.kind === "from" ? [...own, ...entry(at)] : [...entry(at), ...own]), seen.weights[at], share(at)]),
    };
  };

  return { element: whole, update, numbers, picture: () => pictured(whole, [stage, list.element]), destroy: () => resized.disconnect() };
};
