// The strongest weights as a list of bars, with a sentence and a note on the percentages.

import { button, element, nodesOf } from "../drawing/dom.js";
import { named, percent } from "../drawing/labels.js";
import { ceiling, strongest } from "./shares.js";
import { titled } from "./token_line.js";

const SHOWN = 8;

/** @typedef {(Node | string)[]} Nodes */

/**
 * An interface text with {names} replaced by nodes or strings, as a list of both.
 * @type {(page: Page, key: string, values: Record<string, Child>) => Nodes}
 */
export const parts = (page, key, values) => {
  const names = Object.keys(values);
  const marked = page.say(key, Object.fromEntries(names.map((name, at) => [name, `\0${at}\0`])));
  return nodesOf(marked.split("\0").map((part, at) => (at % 2 ? values[names[Number(part)]] : part)));
};

/** A user's word within a text of ours, isolated in its reading direction. @type {(text: string) => HTMLElement} */
const isolated = (text) => element("bdi", {}, text);

/** Nodes joined as the language lists them. @type {(page: Page, nodes: Child[]) => Nodes} */
const listed = (page, nodes) => {
  if (nodes.length < 2) return nodesOf(nodes);
  const last = nodes.at(-1);
  const before = nodes.slice(0, -1).flatMap((node, at) => (at ? [", ", node] : [node]));
  return parts(page, "and", { before, last });
};

/** @type {WeakMap<Unit[], Set<string>>} The texts that occur more than once in a list of units. */
const repeats = new WeakMap();

/** @type {(units: Unit[]) => Set<string>} */
const repeated = (units) => {
  const known = repeats.get(units);
  if (known) return known;
  const [once, often] = [new Set(), new Set()];
  for (const { text } of units) (once.has(text) ? often : once).add(text);
  repeats.set(units, often);
  return often;
};

/**
 * The two largest of `shares` by name, with percentages: "time (32%) and itself (27%)".
 * @type {(page: Page, shares: Float64Array, units: Unit[], own: number | null) => Nodes}
 */
const leaders = (page, shares, units, own) => {
  const places = strongest(shares, 2).filter((at, place) => place === 0 || shares[at] >= 0.005);
  /** @type {(at: number) => Child} */
  const name = (at) => (at === own ? page.say("itself") : isolated(titled(units[at], units)));
  const nodes = places.map((at) => [name(at), ` (${percent(shares[at])})`]);
  return nodes.length ? listed(page, nodes) : [page.say("nothing")];
};

/**
 * The names of the units set aside, each once, at most four.
 * @type {(page: Page, units: Unit[], kept: Set<number>) => Nodes}
 */
const asideNames = (page, units, kept) => {
  /** @type {Map<string, Child>} */
  const nodes = new Map();
  for (const unit of units) {
    if (kept.has(unit.index)) continue;
    if (unit.special) nodes.set(unit.text, isolated(named(unit.text)));
    else if (!unit.text.trim()) nodes.set("", page.say("aside.spaces"));
    else if (unit.first) nodes.set("controls", page.say("aside.controls"));
    else nodes.set(`word ${unit.index}`, parts(page, "aside.first", { word: isolated(named(unit.text)) }));
  }
  return listed(page, [...nodes.values()].slice(0, 4));
};

/**
 * The list under a sentence: `pick` when a row is clicked, `point` when one is hovered (null: no longer).
 * @param {Page} page
 * @param {{ pick: (unit: number) => void, point: (unit: number | null) => void }} on
 */
export const createBarList = (page, on) => {
  const found = element("p", { class: "found" });
  const bars = element("ol", { class: "bars" });
  const basis = element("p", { class: "quiet basis" });
  const whole = element("div", { class: "strongest" }, found, bars, basis);

  /** @type {(share: number, full: number) => HTMLElement} */
  const bar = (share, full) => {
    const width = `${Math.min(share / full, 1) * 100}%`;
    const fill = element("span", { class: "bar-fill", style: { width } });
    return element("span", { class: "bar-room", "aria-hidden": "true" }, fill);
  };

  /** @type {(reading: DrawnReading, shares: Float64Array, places: number[]) => HTMLElement[]} */
  const rows = ({ units, own, long, pointed }, shares, places) => {
    const [full, cut] = ceiling(shares);
    const often = repeated(units);
    return places.map((at) => {
      const name = titled(units[at], units);
      const share = `${cut && shares[at] > full ? "» " : ""}${percent(shares[at])}`;
      const number = (at + 1).toLocaleString(page.language);
      const place = (long || often.has(units[at].text)) && page.say("sentence.place", { number });
      const pointing = { pointerenter: () => on.point(at), pointerleave: () => on.point(null) };
      return element(
        "li",
        { "data-pointed": at === pointed, on: pointing },
        button(at === own ? page.say("itself") : isolated(name), () => on.pick(at), { class: "bar-name", title: name }),
        bar(shares[at], full),
        element("span", { class: "bar-share" }, share),
        place && element("span", { class: "quiet" }, place),
      );
    });
  };

  // The note on the percentages, and explanations of special marks.
  /** @type {(reading: DrawnReading, shares: Float64Array, places: number[]) => Nodes} */
  const explained = ({ kind, units, aside, kept, ...reading }, shares, places) => {
    const values = { word: wordOf(reading), units: page.say(page.state.unit) };
    const names = asideNames(page, units, kept);
    const rest = [...shares].filter((share, at) => share > 0 && !places.includes(at));
    const total = rest.reduce((sum, share) => sum + share, 0);
    const basisKind = kind === "from" && !names.length ? "all" : kind;
    const said = [
      kind === "from" && rest.length > 0 && page.say("sentence.rest", { count: rest.length, share: percent(total) }),
      parts(page, `sentence.basis.${basisKind}`, values),
      kind === "from" && names.length > 0 && parts(page, "sentence.took", { names, share: percent(aside) }),
      kind === "none" && names.length > 0 && parts(page, "sentence.aside", { names }),
      reading.hidden && page.say(`sentence.hidden.${kind === "to" ? "to" : "from"}`),
      reading.generated && page.say("sentence.generated"),
      reading.joined && page.say("sentence.joined"),
    ];
    return nodesOf(said.filter(Boolean).flatMap((part) => [part, " "]).slice(0, -1));
  };

  /** The selected unit of a reading. @type {(reading: { asked: Unit | null, ones: Unit[] | null }) => Child} */
  const wordOf = ({ asked, ones }) => asked && isolated(titled(asked, ones ?? []));

  /** @type {(reading: DrawnReading, places: number[]) => Nodes} */
  const sentence = ({ kind, shares, units, own, ...reading }, [top]) => {
    const hint = element("span", { class: "hint" }, page.say("sentence.hint"));
    if (kind !== "none" && shares) {
      const names = leaders(page, shares, units, own);
      return parts(page, `sentence.found.${kind}`, { word: wordOf(reading), names });
    }
    if (top === undefined || !shares) return [hint];
    const strong = { word: isolated(titled(units[top], units)), share: percent(shares[top]) };
    return [...parts(page, "sentence.received", strong), " ", hint];
  };

  /** Show a reading. @type {(reading: DrawnReading) => void} */
  const show = (reading) => {
    const { shares, pointed } = reading;
    // so that the layout doesn't jump while numbers load
    whole.style.minHeight = shares ? "" : `${whole.offsetHeight}px`;
    const places = shares ? strongest(shares, SHOWN) : [];
    found.replaceChildren(...sentence(reading, places));
    if (shares && pointed !== null && shares[pointed] > 0 && !places.includes(pointed)) places.push(pointed);
    bars.replaceChildren(...(shares ? rows(reading, shares, places) : []));
    bars.hidden = !places.length;
    basis.replaceChildren(...(shares ? explained(reading, shares, places) : []));
  };

  /** The sentence, as text. */
  const text = () => found.textContent ?? "";

  return { element: whole, show, text };
};
