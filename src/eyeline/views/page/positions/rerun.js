// The same words in another order in the page's own model: run on hosts that run texts, or found among the traces.

import { button, element } from "../drawing/dom.js";
import { isolated, named, percent } from "../drawing/labels.js";

const MOST = 24; // words of a text whose weights are compared

/** The words of a text. @type {(trace: Trace) => Unit[]} */
const wordsOf = (trace) => trace.queries.words.filter((word) => !word.special && word.text.trim());

/**
 * For each word of a trace, the index of the same word in another one; null if that isn't the same words in another
 * order. The second of two equal words is the second there.
 * @type {(trace: Trace, other: Trace) => number[] | null}
 */
const placesIn = (trace, other) => {
  const [own, there] = [trace, other].map((one) => wordsOf(one).map((word) => word.text.trim()));
  if (own.length !== there.length) return null;
  /** @type {Set<number>} */
  const taken = new Set();
  const places = own.map((text) => {
    const at = there.findIndex((word, place) => word === text && !taken.has(place));
    taken.add(at);
    return at;
  });
  return places.includes(-1) || places.every((at, place) => at === place) ? null : places;
};

/** A trace of the same model over the same words in another order. @type {(page: Page) => { other: Trace, places: number[] } | null} */
export const partnerOf = ({ trace, traces }) => {
  if (!trace || trace.crossing || wordsOf(trace).length > MOST) return null;
  for (const other of traces) {
    if (other === trace || other.crossing || other.model.name !== trace.model.name || other.name !== trace.name) continue;
    const places = placesIn(trace, other);
    if (places) return { other, places };
  }
  return null;
};

/** Whether the host can run the shuffled words. @type {(page: Page) => boolean} */
const runs = ({ trace, model, header }) =>
  Boolean(trace && !trace.crossing && model.run && header.can.models.includes(trace.model.name)) &&
  wordsOf(trace).length > 1 && wordsOf(trace).length <= MOST;

/** The weights from word to word, in the order of the text. @type {(page: Page, trace: Trace) => Promise<number[][]>} */
const weightsOf = async (page, trace) => {
  const map = await page.attention([trace.index, page.state.layer, page.state.head], "words");
  const shown = wordsOf(trace).map((word) => word.index);
  return shown.map((row) => {
    const all = map.row(row);
    return shown.map((column) => all[column]);
  });
};

/** @type {(row: number[]) => number} */
const largest = (row) => row.indexOf(Math.max(...row));

/** A part that holds the comparison, and a button that makes it possible. */
export class Rerun {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.running = false;
    this.trouble = "";
  }

  /** Run the words with the last one first. */
  async run() {
    const { page } = this;
    const words = wordsOf(page.trace).map((word) => word.text.trim());
    const text = [words[words.length - 1], ...words.slice(0, -1)].join(" ");
    [this.running, this.trouble] = [true, ""];
    page.set({});
    try {
      const { model: { name: model } } = page.trace;
      if (page.typing) await page.typing.runs.run(text, model, null, () => {});
      else {
        const made = await page.model.run?.({ text, model, mask: null, scale: null }, () => {});
        for (const entry of made?.header.traces.slice(page.traces.length) ?? []) page.add(entry);
      }
    } catch (error) {
      this.trouble = page.reason(error);
    }
    this.running = false;
    page.set({});
  }

  /** @returns {Promise<HTMLElement | null>} */
  async part() {
    const { page } = this;
    const found = partnerOf(page);
    const title = page.trace && element("h3", {}, page.say("positions.real", { model: page.trace.model.name }));
    if (!found) {
      if (!runs(page)) return null;
      const press = button(page.say(this.running ? "positions.running" : "positions.run"), () => this.run(), {
        class: "plain", "data-focus": "rerun", disabled: this.running,
      });
      const trouble = this.trouble ? element("p", { class: "trouble", role: "alert" }, this.trouble) : null;
      return element("section", { class: "rerun" }, title, element("p", { class: "quiet" }, page.say("positions.real.why")), press, trouble);
    }
    const { other, places } = found;
    const [before, second] = await Promise.all([weightsOf(page, page.trace), weightsOf(page, other)]);
    const after = before.map((row, i) => row.map((_, j) => second[places[i]][places[j]]));
    const words = wordsOf(page.trace).map((word) => named(word.text));
    const change = Math.max(...before.flatMap((row, i) => row.map((weight, j) => Math.abs(weight - after[i][j]))));
    /** @type {(row: number[]) => Child[]} */
    const most = (row) => [element("bdi", { class: "word key" }, words[largest(row)]), " ", percent(row[largest(row)])];
    /** @type {(text: string) => string} */
    const short = (text) => isolated(text.length > 40 ? `${text.slice(0, 39)}…` : text);
    /** @type {(trace: Trace) => HTMLElement} */
    const column = (trace) => element("th", { scope: "col" }, page.say("positions.most.in", { words: short(trace.queries.text) }));
    return element(
      "section",
      { class: "rerun" },
      title,
      element(
        "table",
        { class: "outcomes" },
        element("thead", {}, element("tr", {}, element("td"), column(page.trace), column(other))),
        element(
          "tbody",
          {},
          words.map((word, at) =>
            element("tr", {}, element("th", { scope: "row" }, element("bdi", { class: "word query" }, word)), element("td", {}, most(before[at])), element("td", {}, most(after[at]))),
          ),
        ),
      ),
      element("p", { class: "verdict", role: "status" }, page.say("positions.changed", { model: page.trace.model.name, points: Math.round(100 * change) })),
    );
  }
}
