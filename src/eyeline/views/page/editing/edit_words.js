// Edits in words, as `--edit` and `eyeline.edits.parse` take them, and what they say to a reader.

import { isolated, labelled, named } from "../drawing/labels.js";

/** The tokens of a unit: "#2", or "#2-3". @type {(unit: Unit) => string} */
const tokens = ({ first, last }) => (last - first === 1 ? `#${first}` : `#${first}-${last - 1}`);

/** A head: "L5H3"; or all of a layer, "L5". @type {(layer: number, head: HeadChoice) => string} */
export const siteOf = (layer, head) => (typeof head === "number" ? `L${layer}H${head}` : `L${layer}`);

/** A look hidden before the softmax. @type {(site: string, query: Unit, key: Unit) => string} */
export const cutOf = (site, query, key) => `cut ${site} ${tokens(query)}>${tokens(key)}`;

/** A look's weight set to zero after it. @type {(site: string, query: Unit, key: Unit) => string} */
export const knockedOf = (site, query, key) => `reweight ${site} ${tokens(query)}>${tokens(key)} 0`;

/** A head switched off. @type {(site: string) => string} */
export const offOf = (site) => `gate ${site} 0`;

const FORM = /^(\w+) (?:(?:encoder|decoder|cross) )?(\S+?)(?: ([^\s>]*)>(\S*))?(?: (\S+))?$/;

/** The layer of an edit; NaN where its words name none. @type {(words: string) => number} */
export const layerOf = (words) => Number(/^L(\d+)/.exec(FORM.exec(words)?.[2] ?? "")?.[1] ?? NaN);

/** Whether a run has the layer and the head of an edit, as far as its words tell. @type {(trace: Trace, words: string) => boolean} */
export const isWithin = ({ depth, heads }, words) => {
  const [, layer, head = 0] = /^L(\d+)(?:H(\d+))?$/.exec(FORM.exec(words)?.[2] ?? "") ?? [];
  return layer === undefined || (Number(layer) < depth && Number(head) < heads);
};

/** A unit as a reader knows it: a word that stands in its text several times with its number, "dog (word 2)". @type {(page: Page, line: TokenizedText, unit: Unit) => string} */
export const known = (page, { words }, unit) => {
  const name = isolated(labelled(unit));
  const same = words.filter(({ special, text }) => !special && named(text) === named(unit.text));
  if (same.length < 2 || unit.before || unit.after || unit.special) return name;
  const number = words.filter(({ special, text, first }) => !special && text.trim() && first <= unit.first).length;
  return `${name} (${page.say("sentence.place.word", { number })})`;
};

/** The tokens that words name, as a reader knows them. @type {(page: Page, line: TokenizedText, text: string) => string} */
const said = (page, line, text) => {
  if (!text) return page.say("editing.any");
  const parts = text.split(",").map((part) => {
    const [, first, last] = /^#(\d+)(?:-(\d*))?$/.exec(part) ?? [];
    const from = Number(first);
    if (first === undefined || from >= line.length) return part;
    const end = last === undefined ? from : last ? Number(last) : line.length - 1;
    const word = line.unitOf(from, "words");
    if (word.first === from && word.last === end + 1) return known(page, line, word);
    if (last === undefined) return isolated(labelled(line.unitOf(from, "pieces")));
    return `${isolated(labelled(line.unitOf(from, "pieces")))} … ${isolated(labelled(line.unitOf(Math.min(end, line.length - 1), "pieces")))}`;
  });
  return parts.join(", ");
};

/** An edit as a sentence: "L5H3 is switched off"; its words where there is none. @type {(page: Page, trace: Trace, words: string) => string} */
export const sentenceOfEdit = (page, { queries, keys }, words) => {
  const [, name, site, from, to, by] = FORM.exec(words) ?? [];
  const place = /^L\d+$/.test(site ?? "") ? page.say("editing.layer", { layer: site }) : site;
  const values = { site: place ?? "", query: said(page, queries, from ?? ""), key: said(page, keys, to ?? ""), by: by ?? "0" };
  if (name === "gate" && from === undefined) return page.say(Number(by ?? 0) === 0 ? "editing.is.off" : "editing.is.gate", values);
  if (name === "uniform") return page.say("editing.is.uniform", values);
  if (name === "cut" && from !== undefined) return page.say("editing.is.cut", values);
  if (name === "reweight" && from !== undefined) return page.say(Number(by ?? 0) === 0 ? "editing.is.knocked" : "editing.is.reweight", values);
  return words;
};

/** Edits as options of a command. @type {(edits: string[]) => string} */
export const asOptions = (edits) => edits.map((one) => `--edit '${one.replaceAll("'", "'\\''")}'`).join(" ");

/** Edits as Python that runs the text with them. @type {(trace: Trace, edits: string[]) => string} */
export const asPython = ({ queries, model }, edits) =>
  [
    "import eyeline as el",
    "from eyeline import edits as ed",
    "",
    "edits = [",
    ...edits.map((one) => `    ${inPython(one)},`),
    "]",
    `run = el.record(${JSON.stringify(queries.text)}, model=${JSON.stringify(model.name)}, edits=edits)`,
    "",
  ].join("\n");

/** The positions in Python. @type {(text: string) => string | null} */
const positions = (text) => {
  const [, first, last] = /^#(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (first === undefined) return null;
  return last === undefined ? `[${first}]` : `slice(${first}, ${Number(last) + 1})`;
};

/** @type {(words: string) => string} */
const inPython = (words) => {
  const [, name, site, from, to, by] = FORM.exec(words) ?? [];
  const [, layer, head] = /^L(\d+)(?:H(\d+))?$/.exec(site ?? "") ?? [];
  const place = `layer=${layer}${head === undefined ? "" : `, head=${head}`}`;
  if (layer !== undefined && name === "gate" && from === undefined) return `ed.Gate(${place}, by=${by ?? 0})`;
  if (layer !== undefined && name === "uniform") return `ed.Uniform(${place})`;
  const [queries, keys] = [positions(from ?? ""), positions(to ?? "")];
  if (layer !== undefined && queries && keys) {
    if (name === "cut") return `ed.Cut(${place}, queries=${queries}, keys=${keys})`;
    if (name === "reweight") return `ed.Reweight(${place}, queries=${queries}, keys=${keys}, by=${by ?? 0})`;
  }
  return `ed.parse(${JSON.stringify(words)})`;
};
