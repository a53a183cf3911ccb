// Typed texts in the words of an address: "trace=t text=time+flies". Other traces are known by their numbers.

/** The most characters of a text that an address carries. */
export const CARRIED = 2000;

const PLAIN = /[\p{L}\p{M}\p{N}_,.'’!?-]/u;
const LAST = /[,.'’!?-]$/; // what programs leave out at the end of a link

/** @type {(sign: string) => string} */
const coded = (sign) => `~${(sign.codePointAt(0) ?? 0).toString(16)}~`;

/** A text as one word: letters and digits stay, a space is "+", anything else its code point, "~2f~". @type {(text: string) => string} */
export const written = (text) =>
  [...text].map((sign) => (sign === " " ? "+" : PLAIN.test(sign) ? sign : coded(sign))).join("").replace(LAST, coded);

/** The text of such a word. @type {(word: string) => string} */
export const read = (word) =>
  word.replaceAll("+", " ").replace(/~([0-9a-f]{1,6})~/g, (whole, code) => {
    const point = parseInt(code, 16);
    return point > 0x10ffff ? whole : String.fromCodePoint(point);
  });

/** What words say of typed texts. @typedef {{ name: string, text: string, model: string | null }} Carried */

/** The texts that words carry, by the names "t", "t2" and so on. @type {(words: string) => Carried[]} */
export const carried = (words) => {
  const found = new Map([...words.matchAll(/(?:^|[\s&])(text|model)([2-4]?)=([^\s&]+)/g)].map(([, key, at, word]) => [key + at, read(word)]));
  return ["", "2", "3", "4"].flatMap((at) => {
    const text = found.get(`text${at}`);
    return text === undefined || text.length > CARRIED ? [] : [{ name: `t${at}`, text, model: found.get(`model${at}`) ?? null }];
  });
};

/** The names of texts that words use. @type {(words: string) => string[]} */
export const named = (words) =>
  [...words.matchAll(/(?:^|[\s&])(?:trace|other|own)=([^\s&]*)/g)].flatMap(([, value]) => value.split(",").flatMap((one) => /^(t[2-4]?)(?:\.\d)?e?$/.exec(one)?.[1] ?? []));

/** Words without what is of a text. @type {(words: string) => string} */
export const bare = (words) => words.split(/[\s&]+/).filter((word) => /^(?:view|stop|done|language|theme)=/.test(word)).join(" ");

/**
 * Words with the numbers of the traces that they name: `numbers` has those of each name, the first of the run and the shown
 * one. Without a trace they mean the first text.
 * @type {(words: string, numbers: Map<string, { first: number, trace: number }>) => string}
 */
export const resolved = (words, numbers) => {
  /** @type {(word: string) => string} */
  const number = (word) => {
    const [, name, part, edited] = /^(t[2-4]?)(?:\.(\d))?(e?)$/.exec(word) ?? [];
    const run = numbers.get(name);
    if (name === undefined) return word;
    return run ? `${part === undefined ? run.trace : run.first + Number(part)}${edited}` : word;
  };
  const all = words.split(/[\s&]+/).filter((word) => word && !/^(?:text|model)[2-4]?=/.test(word));
  const found = all.map((word) => word.replace(/^(trace|other|own)=(.*)$/s, (_, key, value) => `${key}=${value.split(",").map(number).join()}`));
  const first = numbers.get("t");
  if (!first || all.some((word) => word.startsWith("trace="))) return found.join(" ");
  return [`trace=${first.trace}${all.some((word) => word.startsWith("edits=")) ? "e" : ""}`, ...found].join(" ");
};

/** Names for the typed texts of one address, and the words that carry these. */
export class Naming {
  /** @param {TypedRuns} runs */
  constructor(runs) {
    this.runs = runs;
    /** @type {TypedRun[]} */
    this.named = [];
  }

  /** The name of a trace, if its text was typed. @param {Trace} trace */
  of(trace) {
    const run = this.runs.of(trace);
    if (!run) return undefined;
    if (!this.named.includes(run)) this.named.push(run);
    const at = this.named.indexOf(run);
    return `t${at || ""}`.replace(/[1-3]$/, (digit) => String(Number(digit) + 1)) + (trace.index === run.trace ? "" : `.${trace.index - run.first}`);
  }

  /** The texts that were named, in words; without those that are too long. */
  words() {
    const [usual] = this.runs.page.header.can.models;
    return this.named.flatMap(({ text, model }, at) => {
      if (text.length > CARRIED) return [];
      const nth = at ? String(at + 1) : "";
      return [`text${nth}=${written(text)}`, ...(model === usual ? [] : [`model${nth}=${written(model)}`])];
    });
  }
}
