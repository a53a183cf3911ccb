// What matters: how much changes when each head is cut, as a colour for each head of the overview.

import { tint, needsLight, tintOf } from "../drawing/colour.js";
import { button, choice, contextOf, element, phrase } from "../drawing/dom.js";
import { isolated, named } from "../drawing/labels.js";
import { paintRamp } from "../drawing/scale_bar.js";
import { captioned } from "../pickers.js";
import { roundEnd } from "../weights/quantity.js";
import { numbersOf } from "../weights/buffers.js";

const RAMP = [120, 10]; // pixels
const PAUSE = 60; // milliseconds between two looks at the progress

/** What was found: the effect of each head, NaN for those that weren't cut. @typedef {{ key: string, reply: Reply, heads: Float32Array, end: number, signed: boolean }} Found */

/** The effects of the heads of the page's trace. */
export class Matters {
  /**
   * @param {Page} page
   * @param {() => void} redraw draws the overview anew
   */
  constructor(page, redraw) {
    this.page = page;
    this.redraw = redraw;
    /** @type {Map<string, Found>} */
    this.all = new Map();
    this.asking = "";
    this.stopping = false;
    this.trouble = "";
    /** @type {[done: number, count: number]} */
    this.progress = [0, 0];
  }

  /** The effects that a file holds of the trace: the measured token of each. */
  get stored() {
    const { header, trace } = this.page;
    return (header.effects ?? []).filter(([at]) => at === trace.index).map(([, token]) => token);
  }

  /** Whether the host computes effects of the trace. */
  get computes() {
    const { page: { header, trace } } = this;
    const plain = trace.name === "as trained" || trace.edits.length > 0;
    return plain && !trace.image && !trace.crossing && Boolean(header.can.edit?.includes(trace.model.name));
  }

  /** Whether there is anything to choose. */
  get offered() {
    return this.computes || this.stored.length > 0;
  }

  /** Whether heads are coloured by what matters. */
  get on() {
    return this.page.state.colour === "matters" && this.offered;
  }

  /** The token whose vector is measured; null for the next word, or the text's vector. */
  get token() {
    const { page: { trace, state }, stored } = this;
    const word = state.token === null || trace.kind === "decoder" ? null : trace.queries.unitOf(state.token, "words");
    const own = word && (stored.find((token) => token !== null && token >= word.first && token < word.last) ?? word.first);
    return this.computes || stored.includes(own) ? own : stored[0] ?? null;
  }

  get key() {
    return `${this.page.trace.serial} ${this.token}`;
  }

  /** What was found for the present question. */
  get found() {
    return this.all.get(this.key);
  }

  /** The list of colours. @returns {HTMLElement[]} */
  controls() {
    const { page } = this;
    if (!this.offered) return [];
    /** @type {[State["colour"], string][]} */
    const ways = [["looks", page.say("matters.looks")], ["matters", page.say("matters.matters")]];
    return [captioned(page, "matters.colour", choice(page.say("matters.colour"), ways, page.state.colour, (value) =>
      page.set({ colour: value === "matters" ? "matters" : "looks" })))];
  }

  /** Have the effects computed, if they are asked for. */
  async update() {
    const { page, key, token } = this;
    if (!this.on || this.found || this.asking === key) return;
    [this.asking, this.stopping, this.trouble, this.progress] = [key, false, "", [0, 0]];
    const request = { trace: page.trace.index, ...(token === null ? {} : { token }) };
    try {
      while (this.asking === key) {
        /** @type {HostRequest} */
        const asked = { kind: "effects", ...request, ...(this.stopping ? { stop: true } : {}) };
        const { reply, buffers } = await page.host.ask(asked);
        if (reply.over) {
          if (buffers.length) this.take(key, reply, numbersOf("float32", buffers[0]));
          else this.trouble = page.say("matters.stopped");
          break;
        }
        this.progress = [reply.done ?? 0, reply.count ?? 0];
        this.redraw();
        await new Promise((done) => void setTimeout(done, PAUSE));
      }
    } catch (error) {
      this.trouble = page.reason(error);
    }
    if (this.asking !== key) return; // another question came meanwhile, which goes on
    this.asking = "";
    this.redraw();
    page.retell();
  }

  /** @type {(key: string, reply: Reply, heads: Float32Array) => void} */
  take(key, reply, heads) {
    const sizes = [...heads].filter((effect) => !Number.isNaN(effect)).map(Math.abs);
    const signed = !(reply.measure ?? "").includes("cosine");
    this.all.set(key, { key, reply, heads, end: roundEnd(Math.max(...sizes)), signed });
  }

  /** The effect of a head; NaN where it isn't known. @param {OneHead} one */
  of({ layer, head }) {
    return this.found?.heads[layer * this.page.trace.heads + head] ?? NaN;
  }

  /** A number on the scale as a text. @type {(effect: number) => string} */
  written(effect) {
    const digits = Math.min(Math.max(1 - Math.floor(Math.log10(this.found?.end ?? 1)), 1), 6); // one more than the end has
    const least = 10 ** -digits;
    if (effect && Math.abs(effect) < least / 2) return effect < 0 ? `>−${least}` : `<${least}`;
    return effect ? effect.toFixed(digits).replace("-", "−") : "0";
  }

  /** Draw a head's square, from (x, y). @type {(pen: CanvasRenderingContext2D, one: OneHead, x: number, y: number, side: number, colours: { hidden: string, font: string }) => void} */
  paint(pen, one, x, y, side, { hidden, font }) {
    const effect = this.of(one);
    const share = effect / (this.found?.end ?? 1);
    pen.fillStyle = Number.isNaN(effect) ? hidden : tint(share, this.page.dark);
    pen.fillRect(x, y, side, side);
    const text = this.written(effect);
    pen.font = font;
    if (Number.isNaN(effect) || pen.measureText(text).width > side - 4) return;
    [pen.textAlign, pen.textBaseline] = ["center", "middle"];
    pen.fillStyle = needsLight(tintOf(share, this.page.dark)) ? "#fff" : "#000";
    pen.fillText(text, x + side / 2, y + side / 2);
  }

  /** What is measured, in words. */
  get measured() {
    const { page, found } = this;
    const { reply } = found ?? {};
    if (reply?.next !== undefined) {
      const values = { word: isolated(named(reply.next)), rival: isolated(named(reply.rather ?? "")) };
      return page.say(reply.rather ? "matters.of.rather" : "matters.of.next", values);
    }
    const { token } = this;
    if (page.trace.kind === "decoder") return page.say("matters.of.any");
    if (token === null) return page.say("matters.of.text");
    return page.say("matters.of.word", { word: isolated(named(page.trace.queries.unitOf(token, "words").text)) });
  }

  /** A head's effect in a sentence. @type {(one: OneHead) => string} */
  said(one) {
    const effect = this.of(one);
    if (!this.on || Number.isNaN(effect)) return "";
    return this.page.say("matters.head", { effect: this.written(effect), of: this.measured });
  }

  /** One sentence on all of them: the head that matters most. */
  finding() {
    const { page, found } = this;
    if (!found) return "";
    let [most, at] = [0, 0];
    found.heads.forEach((effect, place) => {
      if (Math.abs(effect) > most) [most, at] = [Math.abs(effect), place];
    });
    const [layer, head] = [Math.floor(at / page.trace.heads), at % page.trace.heads];
    return page.say(found.signed ? "matters.finding.next" : "matters.finding", {
      site: `L${layer}H${head}`, effect: this.written(found.heads[at]), of: this.measured,
    });
  }

  /** The legend, or how far it is. @returns {HTMLElement[]} */
  legend() {
    const { page, found } = this;
    if (this.trouble) return [element("span", { class: "trouble" }, this.trouble)];
    if (!found) {
      const [done, count] = this.progress;
      const stop = button(page.say("matters.stop"), () => {
        this.stopping = true;
      }, { class: "plain", "data-focus": "matters-stop" });
      return [element("span", {}, page.say("matters.progress", { done, count: count || page.trace.depth * page.trace.heads })), stop];
    }
    const [width, height] = RAMP;
    const ramp = element("canvas", { width, height, class: "painted", "aria-hidden": "true" });
    paintRamp(contextOf(ramp), width, height, (part) => tint(found.signed ? 2 * part - 1 : part, page.dark));
    const end = this.written(found.end);
    const least = found.signed ? `−${end}` : "0";
    return [
      element("span", { class: "scale" }, phrase(page.say("matters.scale"), { of: this.measured }), ` ${least} `, ramp, ` ${found.signed ? "+" : ""}${end}`),
      element("span", { class: "why" }, page.say(found.signed ? "matters.how.next" : "matters.how.cosine"), " ", page.say(`matters.by.${found.reply.by}`)),
      ...(found.reply.complete ? [] : [element("span", { class: "why" }, page.say("matters.partial"))]),
    ];
  }
}

/** The effects for the overview; `redraw` draws it anew. @type {(page: Page, redraw: () => void) => Matters} */
export const createMatters = (page, redraw) => new Matters(page, redraw);
