// The strongest looks as a list of bars, what they say in one sentence, and what their percents are of.

import { button, element } from "../drawing/dom.js";
import { named, percent } from "../drawing/labels.js";
import { ceiling, strongest } from "./shares.js";
import { titled } from "./token_line.js";

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

const repeats = new WeakMap(); // of lists of units: the texts that stand there more than once

const repeated = (units) => {
  if (!repeats.has(units)) {
    const [once, often] = [new Set(), new Set()];
    for (const { text } of units) (once.has(text) ? often : once).add(text);
    repeats.set(units, often);
  }
  return repeats.get(units);
};

/** The two strongest of `shares` by name, with their percents: "time (32%) and itself (27%)". */
const leaders = (page, shares, units, own) => {
  const places = strongest(shares, 2).filter((at, place) => place === 0 || shares[at] >= 0.005);
  const name = (at) => (at === own ? page.say("itself") : isolated(titled(units[at], units)));
  const nodes = places.map((at) => [name(at), ` (${percent(shares[at])})`]);
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
export const createBarList = (page, on) => {
  const found = element("p", { class: "found" });
  const bars = element("ol", { class: "bars" });
  const basis = element("p", { class: "quiet basis" });
  const whole = element("div", { class: "strongest" }, found, bars, basis);

  const bar = (share, full) => {
    const width = `${Math.min(share / full, 1) * 100}%`;
    const fill = element("span", { class: "bar-fill", style: { width } });
    return element("span", { class: "bar-room", "aria-hidden": "true" }, fill);
  };

  const rows = (looks, places) => {
    const { shares, units, own } = looks;
    const [full, cut] = ceiling(shares);
    const often = repeated(units);
    return places.map((at) => {
      const name = titled(units[at], units);
      const share = `${cut && shares[at] > full ? "» " : ""}${percent(shares[at])}`;
      const place = (looks.long || often.has(units[at].text)) && page.say("sentence.place", { number: (at + 1).toLocaleString(page.language) });
      const pointing = { pointerenter: () => on.point(at), pointerleave: () => on.point(null) };
      return element(
        "li",
        { "data-pointed": at === looks.pointed, on: pointing },
        button(at === own ? page.say("itself") : isolated(name), () => on.pick(at), { class: "bar-name", title: name }),
        bar(shares[at], full),
        element("span", { class: "bar-share" }, share),
        place && element("span", { class: "quiet" }, place),
      );
    });
  };

  // What the percents are of, and what is drawn that has to be explained.
  const explained = (looks, places) => {
    const { kind, asked, ones, shares, units, aside, kept } = looks;
    const values = { word: asked && isolated(titled(asked, ones)), units: page.say(page.state.unit) };
    const names = asideNames(page, units, kept);
    const rest = [...shares].filter((share, at) => share > 0 && !places.includes(at));
    const total = rest.reduce((sum, share) => sum + share, 0);
    const whole = kind === "from" && !names.length ? "all" : kind;
    return [
      kind === "from" && rest.length && page.say("sentence.rest", { count: rest.length, share: percent(total) }),
      parts(page, `sentence.basis.${whole}`, values),
      kind === "from" && names.length && parts(page, "sentence.took", { names, share: percent(aside) }),
      kind === "none" && names.length && parts(page, "sentence.aside", { names }),
      looks.hidden && page.say(`sentence.hidden.${kind === "to" ? "to" : "from"}`),
      looks.generated && page.say("sentence.generated"),
      looks.joined && page.say("sentence.joined"),
    ].filter(Boolean);
  };

  const sentence = ({ kind, asked, ones, shares, units, own }, [top]) => {
    const hint = element("span", { class: "hint" }, page.say("sentence.hint"));
    if (kind !== "none") {
      const names = leaders(page, shares, units, own);
      return parts(page, `sentence.found.${kind}`, { word: isolated(titled(asked, ones)), names });
    }
    if (top === undefined) return [hint];
    const found = { word: isolated(titled(units[top], units)), share: percent(shares[top]) };
    return [...parts(page, "sentence.received", found), " ", hint];
  };

  /**
   * Show looks, as a TokenSelection has them, and what is drawn: {pointed, hidden, generated, long, joined}. `joined` says
   * whether words stand for several pieces.
   */
  const show = (looks) => {
    const { shares, pointed } = looks;
    whole.style.minHeight = shares ? "" : `${whole.offsetHeight}px`; // so that nothing jumps while numbers are awaited
    const places = shares ? strongest(shares, SHOWN) : [];
    found.replaceChildren(...sentence(looks, places).flat(Infinity));
    if (shares && shares[pointed] > 0 && !places.includes(pointed)) places.push(pointed);
    bars.replaceChildren(...(shares ? rows(looks, places) : []));
    bars.hidden = !places.length;
    const said = shares ? explained(looks, places) : [];
    basis.replaceChildren(...said.flatMap((part) => [part, " "]).slice(0, -1).flat(Infinity));
  };

  /** The sentence, as text. */
  const text = () => found.textContent;

  return { element: whole, show, text };
};
