// What a reading says in words: the sentence of the title line, and notes on the numbers.

import { element } from "../drawing/dom.js";
import { isolated, named, onScale } from "../drawing/labels.js";
import { localNumber } from "../language.js";
import { strongest } from "./row_numbers.js";
import { asideNames, patchOf, titled } from "./unit_names.js";

const WORTH = 0.005; // numbers below this aren't worth telling
const NAMED = 4; // units set aside that are named

/** Texts joined as the language lists them. @type {(page: Page, texts: string[]) => string} */
const listed = (page, texts) => {
  if (texts.length < 2) return texts.join("");
  return page.say("and", { before: texts.slice(0, -1).join(", "), last: texts[texts.length - 1] });
};

/** A word of a user's, or a patch, in a text of ours. @type {(page: Page, unit: Unit, units: Unit[]) => string} */
const quoted = (page, unit, units) => {
  const name = titled(page, unit, units);
  return patchOf(page, unit) === null ? page.say("quoted", { word: isolated(name) }) : name;
};

/** The units that are set aside: not among the shown ones. @type {(units: Unit[], kept: Set<number>) => Unit[]} */
const asideOf = (units, kept) => units.filter((unit) => !kept.has(unit.index));

/**
 * What the units set aside are, for texts: one special token, several, a decoder's first word, or more; null for none.
 * @type {(page: Page, units: Unit[], kept: Set<number>) => { kind: "one" | "special" | "first" | "all", word: string } | null}
 */
const asideKind = (page, units, kept) => {
  const [first, ...others] = asideOf(units, kept);
  if (!first) return null;
  if (!others.length && first.special) return { kind: "one", word: isolated(named(first.text)) };
  if (!others.length && first.text.trim()) return { kind: "first", word: quoted(page, first, units) };
  return { kind: [first, ...others].every((unit) => unit.special) ? "special" : "all", word: "" };
};

/**
 * The name of all that is set aside; null if nothing is.
 * @type {(page: Page, units: Unit[], kept: Set<number>) => string | null}
 */
export const asideName = (page, units, kept) => {
  const aside = asideKind(page, units, kept);
  return aside && page.say(`aside.${aside.kind}`, { word: aside.word });
};

/** The two strongest by name: "“time” (32%) and itself (27%)". @type {(page: Page, seen: Reading) => string} */
const leaders = (page, { numbers, units, own, end }) => {
  const all = numbers ?? new Float64Array(0);
  const places = strongest(all, 2).filter((at, place) => place === 0 || all[at] >= WORTH);
  const names = places.map((at) => {
    const name = at === own ? page.say("itself") : quoted(page, units[at], units);
    return `${name} (${onScale(all[at], end)})`;
  });
  return names.length ? listed(page, names) : page.say("nothing");
};

/** One sentence that says what one sees. @type {(page: Page, seen: Reading) => string} */
export const sentenceOf = (page, seen) => {
  const { kind, asked, ones, numbers, units, kept, aside, end } = seen;
  if (!numbers) return "";
  const taking = seen.sums && aside >= WORTH ? asideKind(page, units, kept) : null;
  const told = taking
    ? page.say(`sentence.take.${taking.kind}`, { word: taking.word, share: onScale(aside, end) }) : "";
  if (kind === "none" || !asked) {
    const [top] = strongest(numbers, 1);
    if (top === undefined) return "";
    const word = quoted(page, units[top], units);
    return page.say("sentence.received", { word, share: onScale(numbers[top], end), told });
  }
  const word = quoted(page, asked, ones ?? []);
  return page.say(`sentence.found.${kind}`, { word, names: leaders(page, seen), told });
};

/** What units are called in texts: {one}, "a word"; {all}, "words". @type {(page: Page) => { one: string, all: string }} */
const nounsOf = (page) => {
  const kind = page.trace.image ? "patches" : page.state.unit;
  return { one: page.say(`noun.${kind}.one`), all: page.say(`noun.${kind}.all`) };
};

/** What the numbers are: the legend's name. @type {(page: Page, seen: Reading) => string} */
export const quantityOf = (page, { kind, sums }) => {
  if (page.state.special === "out") {
    return page.say(kind === "none" ? "sentence.scale.shares" : "sentence.scale.share", nounsOf(page));
  }
  if (kind !== "to" && !sums) return page.say("sentence.scale.max");
  return page.say(kind === "none" ? "sentence.scale.weights" : "sentence.scale.weight");
};

/**
 * Notes on the numbers and on special marks; `listedAt` are the units that the list has.
 * @type {(page: Page, seen: Reading, listedAt: number[], drawn: {
 *   hidden: boolean, generated: boolean, joined: boolean, endless: boolean, largest: boolean, reweighted: boolean,
 * }) => Child[]}
 */
export const notesOf = (page, seen, listedAt, drawn) => {
  const { kind, numbers, weights, units, kept, asked, ones, end } = seen;
  const nouns = nounsOf(page);
  const said = [];
  if (kind === "none") said.push(element("span", { class: "hint" }, page.say(page.trace.image ? "picture.hint" : "sentence.hint")));
  if (kind === "none" && drawn.endless) said.push(page.say("sentence.endless"));
  const aside = kind === "to" ? [] : asideOf(units, kept);
  const out = page.state.special === "out";
  if (numbers) {
    const rest = [...numbers.keys()].filter((at) => numbers[at] > 0 && !listedAt.includes(at));
    const total = rest.reduce((sum, at) => sum + numbers[at], 0);
    if (seen.sums && rest.length) said.push(page.say("sentence.rest", {
      count: localNumber(page, rest.length), share: onScale(total, end),
    }));
    const word = asked ? quoted(page, asked, ones ?? []) : "";
    const basis = drawn.largest ? "max" : `${kind}.${out ? "share" : "weight"}`;
    said.push(page.say(`sentence.basis.${basis}`, { word, ...nouns }));
    if (drawn.reweighted && seen.sums && !out) said.push(page.say("sentence.reweighted"));
  }
  if (aside.length) {
    const all = asideNames(page, aside, (unit) => quoted(page, unit, aside));
    const names = listed(page, all.slice(0, NAMED));
    const taken = weights && aside.reduce((sum, { index }) => sum + weights[index], 0);
    if (out && taken !== null && seen.sums) said.push(page.say("sentence.left", { names, share: onScale(taken, end) }));
    else said.push(page.say(seen.sums && !out ? "sentence.aside" : "sentence.out", { names }));
  }
  if (drawn.hidden) said.push(page.say(`sentence.hidden.${kind === "to" ? "to" : "from"}`));
  if (drawn.generated) said.push(page.say("sentence.generated"));
  if (drawn.joined) said.push(page.say("sentence.joined"));
  return said;
};
