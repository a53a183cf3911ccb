// The strongest looks as a list of bars, what they say in one sentence, and what their percents are of.

import { button, element } from "./dom.js";
import { named, percent } from "./labels.js";
import { ceiling, strongest } from "./looks.js";
import { titled } from "./tokens.js";

const SHOWN = 8;

/** An interface text whose {names} are filled in with nodes or strings, as a list of both. */
export const parts = (page, key, values) => {
  const names = Object.keys(values);
  const marked = page.say(key, Object.fromEntries(names.map((name, at) => [name, `\0${at}\0`])));
  return marked.split("\0").map((part, at) => (at % 2 ? values[names[part]] : part));
};

// A user's word among words of ours, whichever way either is read.
const isolated = (text) => element("bdi", {}, text);

// Nodes joined as the language lists them.
const listed = (page, nodes) => {
  if (nodes.length < 2) return nodes;
  const last = nodes.at(-1);
  const before = nodes.slice(0, -1).flatMap((node, at) => (at ? [", ", node] : [node]));
  return parts(page, "and", { before, last });
};

/** The two strongest of `shares` by name, with their percents: "time (32%) and itself (27%)". */
const leaders = (page, shares, units, own) => {
  const places = strongest(shares, 2).filter((at, place) => place === 0 || shares[at] >= 0.005);
  const nodes = places.map((at) => [at === own ? page.say("itself") : isolated(titled(units[at], units)), ` (${percent(shares[at])})`]);
  return nodes.length ? listed(page, nodes) : [page.say("nothing")];
};

// What is set aside, each name once, at most four.
const asideNames = (page, units, kept) => {
  const nodes = new Map();
  for (const unit of units) {
    if (kept.has(unit.index)) continue;
    if (unit.special) nodes.set(unit.text, isolated(named(unit.text)));
    else if (!unit.text.trim()) nodes.set("", page.say("aside.spaces"));
    else nodes.set(`word ${unit.index}`, parts(page, "aside.first", { word: isolated(named(unit.text)) }));
  }
  return listed(page, [...nodes.values()].slice(0, 4));
};

/**
 * The list under a sentence.
 * @param on {pick(unit), point(unit)}: a row was clicked, or is pointed at (null: no longer)
 */
export const createStrongest = (page, on) => {
  const found = element("p", { class: "found" });
  const bars = element("ol", { class: "bars" });
  const basis = element("p", { class: "quiet basis" });
  const whole = element("div", { class: "strongest" }, found, bars, basis);

  const bar = (share, full) =>
    element("span", { class: "bar-room", "aria-hidden": "true" }, element("span", { class: "bar-fill", style: { width: `${Math.min(share / full, 1) * 100}%` } }));

  const rows = (looks) => {
    const { shares, units, own, long } = looks;
    const [full, cut] = ceiling(shares);
    const places = strongest(shares, SHOWN);
    const counted = [...shares.keys()].filter((at) => shares[at] > 0).length;
    if (looks.pointed !== null && shares[looks.pointed] > 0 && !places.includes(looks.pointed)) places.push(looks.pointed);
    const often = new Map();
    for (const unit of units) often.set(unit.text, (often.get(unit.text) ?? 0) + 1);
    const list = places.map((at) =>
      element(
        "li",
        { "data-pointed": at === looks.pointed, on: { pointerenter: () => on.point(at), pointerleave: () => on.point(null) } },
        button(at === own ? page.say("itself") : isolated(titled(units[at], units)), () => on.pick(at), { class: "bar-name", title: titled(units[at], units) }),
        bar(shares[at], full),
        element("span", { class: "bar-share" }, cut && shares[at] > full ? `» ${percent(shares[at])}` : percent(shares[at])),
        long || often.get(units[at].text) > 1 ? element("span", { class: "quiet" }, page.say("sentence.place", { number: at + 1 })) : null,
      ),
    );
    return { list, rest: counted - places.length, places };
  };

  /**
   * Show looks: {kind: "from" | "to" | "none", asked, shares, units, own, aside, kept, hidden, long, joined}. `own` is the
   * asked unit's place among `units`, null if it is none of them; `joined` says whether words stand for several pieces.
   */
  const show = (looks) => {
    const { kind, asked, shares, units, own, aside, kept, hidden, joined } = looks;
    whole.hidden = !shares && kind !== "none";
    const kindOfUnit = page.say(page.state.unit === "words" ? "words" : "pieces");
    const names = asideNames(page, units, kept);
    if (!shares) {
      found.replaceChildren(page.say("sentence.hint"));
      bars.replaceChildren();
      basis.replaceChildren();
      return;
    }
    const { list, rest, places } = rows(looks);
    bars.replaceChildren(...list);
    bars.hidden = !list.length;
    const said = [];
    if (kind === "none") {
      const [top] = places;
      found.replaceChildren(
        ...(top === undefined ? [] : parts(page, "sentence.received", { word: isolated(titled(units[top], units)), share: percent(shares[top]) })).flat(Infinity),
        " ",
        element("span", { class: "hint" }, page.say("sentence.hint")),
      );
      said.push(page.say("sentence.basis.none", { units: kindOfUnit }));
      if (names.length) said.push(parts(page, "sentence.aside", { names }));
    } else {
      const name = titled(asked, looks.ones);
      found.replaceChildren(...parts(page, `sentence.found.${kind}`, { word: isolated(name), names: leaders(page, shares, units, own) }).flat(Infinity));
      if (kind === "to") said.push(parts(page, "sentence.basis.to", { word: isolated(name), units: kindOfUnit }));
      else if (names.length) {
        said.push(parts(page, "sentence.basis.from", { word: isolated(name), units: kindOfUnit }));
        said.push(parts(page, "sentence.took", { names, share: percent(aside) }));
      } else said.push(parts(page, "sentence.basis.all", { word: isolated(name) }));
    }
    if (kind === "from" && rest > 0) said.unshift(page.say("sentence.rest", { count: rest, share: percent(shares.reduce((sum, share, at) => sum + (share > 0 && !places.includes(at) ? share : 0), 0)) }));
    if (hidden) said.push(page.say(`sentence.hidden.${kind === "to" ? "to" : "from"}`));
    if (joined) said.push(page.say("sentence.joined"));
    basis.replaceChildren(...said.flatMap((part, at) => (at ? [" ", part] : [part])).flat(Infinity));
  };

  /** The sentence, as text. */
  const text = () => found.textContent;

  return { element: whole, show, text };
};
