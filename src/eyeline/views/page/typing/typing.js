// Typing, on a host that runs texts in the page: the runs, the fields, and the address that carries a sentence.

import { HostError } from "../host_error.js";
import { bare, carried, CARRIED, named, Naming, resolved } from "./address.js";
import { createOwn } from "./own.js";
import { createPrompt } from "./prompt.js";
import { TypedRuns } from "./runs.js";
import { createSecond } from "./second.js";
import { tellingPlace } from "./telling_place.js";

/** The room of a page. */
export class Typing {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.runs = new TypedRuns(page);
    this.prompt = createPrompt(page, this.runs);
    this.createSecond = () => createSecond(page, this.runs);
    this.createOwn = () => createOwn(page);
    this.tellingPlace = tellingPlace;
  }

  /** Names for the typed texts of one address. */
  naming() {
    return new Naming(this.runs);
  }

  /** Whether words name typed texts. @param {string} words */
  carries(words) {
    return carried(words).length > 0 || named(words).length > 0;
  }

  /** Whether the address has to leave out a text that it names, as it is too long. */
  get lacking() {
    const { page, runs } = this;
    const { trace, other, own } = page.state;
    const shown = [trace, ...(other ? [other[0]] : []), ...own].map((at) => page.traces[at]);
    return shown.some((one) => one && (runs.of(one)?.text.length ?? 0) > CARRIED);
  }

  /** Run the texts that words carry. Returns the words with the numbers of their traces; null if something else was typed meanwhile. @param {string} words */
  async open(words) {
    const { page, runs, prompt } = this;
    const numbers = new Map();
    const texts = carried(words);
    if (named(words).some((name) => !texts.some((one) => one.name === name))) {
      prompt.fail(new HostError({ argument: "text", message: "typing.lacked" }));
      return bare(words);
    }
    let { turn } = runs;
    for (const { name, text, model } of texts) {
      const by = model !== null && page.header.can.models.includes(model) ? model : page.header.can.models[0];
      const known = runs.known(text, by);
      const run = known ? runs.asRun(known, text) : await prompt.open(text, by);
      turn += known ? 0 : 1;
      if (turn !== runs.turn) return null;
      if (!run) return bare(words);
      numbers.set(name, run);
    }
    return resolved(words, numbers);
  }
}

/** The room. @type {(page: Page) => Typing} */
export const createTyping = (page) => new Typing(page);
