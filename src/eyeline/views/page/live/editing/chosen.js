// Layers, heads and tokens in an edit's words, as Python's edits/written_places.py reads and writes them.

const NUMBERS = "\\d{1,9}(?:-(?:\\d{1,9})?)?";
const SITE = new RegExp(`^(?:L(${NUMBERS}))?(?:H(${NUMBERS}))?$`, "i");
/** A position or a range of them, a quoted word, or a word. */
const TOKEN = new RegExp(`#(${NUMBERS})|"((?:[^"\\\\]|\\\\.)*)"|([^\\s",>#][^\\s",>]*)`, "y");
const MOST = 1e5; // of several parts one after the other: as many as a long text has tokens
const PLAIN = /^[^\s",>#][^\s",>]*$/;

/** A part of what is chosen, before several are joined. @typedef {null | number | string | { first: number, last: number | null }} Part */

/** Thrown for words of another form. */
export class NotOfForm extends Error {}

/** A number, or a range, whose end is included. @type {(words: string) => Part} */
const numbersOf = (words) => {
  const [first, last] = words.split("-");
  if (last === undefined) return Number(first);
  if (last && Number(last) < Number(first)) throw new NotOfForm(words);
  return { first: Number(first), last: last ? Number(last) + 1 : null };
};

/** One choice of several parts: alone as it is, else one after the other. @type {(parts: Part[]) => Chosen} */
const joined = (parts) => {
  if (parts.length === 1) {
    const [part] = parts;
    return part === null || typeof part === "object" ? part : [part];
  }
  // An address may say anything: a range is only written out once its length is known.
  const count = parts.reduce((/** @type {number} */ sum, part) => sum + (part && typeof part === "object" && part.last !== null ? part.last - part.first : 1), 0);
  if (count > MOST) throw new NotOfForm();
  const found = parts.flatMap((part) => {
    if (part === null) throw new NotOfForm();
    if (typeof part !== "object") return [part];
    if (part.last === null) throw new NotOfForm();
    return Array.from({ length: part.last - part.first }, (_, at) => part.first + at);
  });
  return [...new Set(found)];
};

/** Layers and heads from their words. @type {(words: string) => [layers: Chosen, heads: Chosen]} */
export const sitesOf = (words) => {
  if (words.toLowerCase() === "all") return [null, null];
  const sites = words.split(",").map((word) => {
    const found = SITE.exec(word);
    if (!word || !found) throw new NotOfForm(word);
    return [found[1], found[2]].map((one) => (one === undefined ? null : numbersOf(one)));
  });
  /** @type {(parts: Part[]) => Map<string, Part>} */
  const each = (parts) => new Map(parts.map((part) => [JSON.stringify(part), part]));
  const [layers, heads] = [0, 1].map((side) => each(sites.map((site) => site[side])));
  if (each(/** @type {any[]} */ (sites)).size !== layers.size * heads.size) throw new NotOfForm(words); // other heads in each layer
  return [joined([...layers.values()]), joined([...heads.values()])];
};

/** Queries and keys from their words. @type {(words: string) => [queries: Chosen, keys: Chosen]} */
export const tokensOf = (words) => {
  let place = 0;
  const [queries, keys] = [">", ""].map((end) => {
    /** @type {Part[]} */
    const found = [];
    while (words.slice(place, place + 1) !== end) {
      TOKEN.lastIndex = place;
      const match = TOKEN.exec(words);
      if (!match) throw new NotOfForm(words.slice(place));
      const [whole, numbers, quoted, plain] = match;
      found.push(numbers ? numbersOf(numbers) : (plain ?? quoted.replace(/\\(.)/gs, "$1")));
      place += whole.length;
      const next = words.slice(place, place + 1);
      if (next === ",") {
        place += 1;
        if ([end, ""].includes(words.slice(place, place + 1))) throw new NotOfForm(words);
      } else if (next !== end) throw new NotOfForm(words.slice(place));
    }
    place += 1;
    return found.length ? joined(found) : null;
  });
  return [queries, keys];
};

/** What is chosen, part by part, as words. @type {(chosen: Exclude<Chosen, null>) => string[]} */
const parts = (chosen) => {
  if (!Array.isArray(chosen)) return [`${chosen.first}-${chosen.last === null ? "" : chosen.last - 1}`];
  return chosen.map(String);
};

/** Layers and heads as words. @type {(layers: Chosen, heads: Chosen) => string} */
export const sitesWords = (layers, heads) => {
  if (!layers && !heads) return "all";
  const [ofLayers, ofHeads] = [layers, heads].map((chosen, side) => (chosen ? parts(chosen).map((one) => `${"LH"[side]}${one}`) : [""]));
  return ofLayers.flatMap((layer) => ofHeads.map((head) => layer + head)).join(",");
};

/** Queries or keys as words; all are no word. @type {(chosen: Chosen) => string} */
export const tokensWords = (chosen) => {
  if (!chosen) return "";
  if (!Array.isArray(chosen)) return `#${parts(chosen)[0]}`;
  return chosen.map((one) => (typeof one === "number" ? `#${one}` : quoted(one))).join(",");
};

/** @type {(word: string) => string} */
const quoted = (word) => (PLAIN.test(word) ? word : `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);

/** Which of `count` numbers are chosen; those that aren't there choose nothing. @type {(chosen: Chosen, count: number) => boolean[]} */
export const chosenOf = (chosen, count) => {
  const found = Array(count).fill(chosen === null);
  if (Array.isArray(chosen)) for (const one of chosen) if (Number(one) < count) found[Number(one)] = true;
  if (chosen && !Array.isArray(chosen)) found.fill(true, chosen.first, chosen.last ?? count);
  return found;
};

/** The largest number that is chosen by itself; -1 if there is none. @type {(chosen: Chosen) => number} */
export const largestOf = (chosen) => (Array.isArray(chosen) ? Math.max(-1, ...chosen.map(Number)) : -1);
