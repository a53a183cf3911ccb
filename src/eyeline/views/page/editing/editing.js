// Edits of the page's text: switching heads off and cutting looks, the list of them, and what they change.

import { button, element } from "../drawing/dom.js";
import { asTrained, editedRun, sameEdits } from "../weights/traces.js";
import { createAsking } from "./asking.js";
import { isWithin, offOf, sentenceOfEdit, siteOf } from "./edit_words.js";
import { createNextWords } from "./next_words.js";
import { createOutcome } from "./outcome.js";
import { createTaking } from "./taking.js";
import { Trail } from "./trail.js";

/** What changes runs of the page's text, and shows what that does. */
export class Editing {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.trail = new Trail();
    this.pending = ""; // the key of the run that is asked for
    this.showing = false; // whether the run is to be shown once it is there
    this.trouble = "";
    this.notice = ""; // what of a link was left out
    /** @type {Trace | undefined} The text whose edits are listed. */
    this.text = undefined;
    this.line = element("div", { class: "edit-line" });
    this.list = element("ul", { class: "edit-list", role: "list" });
    this.said = element("p", { class: "trouble", role: "alert", hidden: true });
    this.outcome = createOutcome(page, this);
    this.next = createNextWords(page, this);
    this.taking = createTaking(page, this);
    this.element = element("section", { class: "editing" }, this.line, this.list, this.said, this.outcome.element, this.next.element);
    this.asking = createAsking(page, this);
    this.settle = this.settle.bind(this);
    this.cutter = this.asking.cutter;
  }

  /** The current text as trained, if it can be run again. */
  get base() {
    const { page } = this;
    const base = page.trace && asTrained(page.traces, page.trace);
    return base && this.runs(base) ? base : undefined;
  }

  /** The run with the state's edits, if there is one. */
  get run() {
    const { base, page } = this;
    return base && editedRun(page.traces, base, page.state.edits);
  }

  /** Whether the host can run a text again. @param {Trace} trace */
  runs({ model, name, image, crossing }) {
    const { can } = this.page.header;
    return Boolean(can.edit?.includes(model.name)) && name === "as trained" && !image && !crossing;
  }

  /** The current head, or all of the layer where several are shown as one. */
  get site() {
    const { layer, head } = this.page.state;
    return siteOf(layer, head);
  }

  /** Whether an edit is among the state's. @param {string} words */
  has(words) {
    return this.page.state.edits.includes(words);
  }

  /** Add an edit, or take it back. @param {string} words */
  toggle(words) {
    const { edits } = this.page.state;
    this.change(this.has(words) ? edits.filter((one) => one !== words) : [...edits, words]);
  }

  /** @param {string[]} edits */
  change(edits) {
    const { base, page } = this;
    if (!base) return;
    this.showing = edits.length > 0;
    // While the run is made, the text as trained is shown: the run before is another list's.
    page.set({ edits, trace: base.index });
    page.announce(
      edits.length ? page.say("editing.announce", { edits: edits.map((one) => this.told(one)).join("; ") }) : page.say("editing.none"),
    );
  }

  /** An edit in a sentence. @param {string} words */
  told(words) {
    const { base, page } = this;
    return base ? sentenceOfEdit(page, base, words) : words;
  }

  /** Take a step of the list back, or again. @param {1 | -1} step */
  step(step) {
    const edits = this.trail.beside(step);
    if (edits) this.change(edits);
  }

  /** Bring the shown run and the list of edits together after a change of the state. @param {Partial<State>} settings */
  settle(settings) {
    const { page, base } = this;
    const { state, trace } = page;
    if (!base) return;
    if (this.text !== base) [this.text, this.trail] = [base, new Trail()];
    // A run that was chosen, or that the page opened with, has its own list.
    if (trace.edits.length && !("edits" in settings) && !sameEdits(trace.edits, state.edits)) {
      page.set({ edits: trace.edits });
      return;
    }
    if ("edits" in settings) this.notice = page.lost ? page.say("editing.lost") : "";
    const lacking = state.edits.filter((one) => !isWithin(base, one));
    if (lacking.length) {
      const values = { edits: lacking.map((one) => this.told(one)).join("; "), layers: base.depth - 1, heads: base.heads - 1 };
      const edits = state.edits.filter((one) => !lacking.includes(one));
      page.set(Object.keys(page.owed).length ? { edits, ...page.owed } : { edits });
      this.notice = page.say("editing.lacks", values);
      return;
    }
    this.trail.note(state.edits);
    const key = JSON.stringify([base.index, state.edits]);
    if (!state.edits.length) {
      this.trouble = "";
      if (trace !== base) page.set({ trace: base.index });
      return;
    }
    const { run } = this;
    if (!run) {
      this.fetch(key);
    } else if (Object.keys(page.owed).length) {
      page.set(page.owed);
    } else if (this.showing) {
      this.showing = false;
      if (trace !== run) page.set({ trace: run.index });
    }
  }

  /** Have the text run with the state's edits. @param {string} key */
  async fetch(key) {
    const { page, base } = this;
    if (this.pending === key || !base) return;
    this.pending = key;
    this.trouble = "";
    this.draw();
    const [{ edits }, known] = [page.state, page.traces.length];
    try {
      const { reply } = await page.host.ask({ kind: "edited", trace: base.index, edits, known });
      for (const entry of reply.entries?.slice(page.traces.length - known) ?? []) page.add(entry);
    } catch (error) {
      this.trouble = page.say("editing.failed", { reason: page.reason(error) });
    }
    if (this.pending === key) this.pending = "";
    if (this.trouble) this.draw();
    else page.set({});
  }

  /** The texts of the list, and the buttons. */
  draw() {
    const { page, base } = this;
    this.element.hidden = !base;
    if (!base) return;
    const { edits } = page.state;
    this.element.setAttribute("aria-label", page.say("editing"));
    const off = offOf(this.site);
    /** @type {(step: 1 | -1, sign: string, key: string) => HTMLElement} */
    const stepper = (step, sign, key) =>
      button(sign, () => this.step(step), {
        class: "plain", "aria-label": page.say(key), title: page.say(key), disabled: !this.trail.beside(step), "data-focus": key,
      });
    this.line.replaceChildren(
      element("strong", {}, page.say("editing")),
      button(page.say(this.has(off) ? "editing.do.on" : "editing.do.off", { site: this.site }), () => this.toggle(off), {
        class: "plain", "aria-pressed": String(this.has(off)), "data-focus": "edit-head", title: page.say("editing.why.off", { site: this.site }),
      }),
      ...(edits.length || this.trail.beside(1) || this.trail.beside(-1)
        ? [element("span", { class: "edit-steps" }, stepper(-1, "↶", "editing.undo"), stepper(1, "↷", "editing.redo"))] : []),
      ...(edits.length ? [this.shown(), this.taking.element] : [element("span", { class: "quiet" }, page.say("editing.how"))]),
      ...(this.pending ? [element("span", { class: "quiet", role: "status" }, page.say("editing.running"))] : []),
    );
    this.list.hidden = !edits.length;
    this.list.replaceChildren(...edits.map((words) => {
      const told = this.told(words);
      return element("li", { title: words }, told, button("×", () => this.toggle(words), {
        "aria-label": page.say("editing.remove", { edit: told }), "data-focus": `edit ${words}`,
      }));
    }));
    this.said.textContent = [this.notice, this.trouble].filter(Boolean).join(" ");
    this.said.hidden = !this.said.textContent;
  }

  /** Which run the views show. */
  shown() {
    const { page, base, run } = this;
    const { state } = page;
    const beside = state.view === "compare" && state.other && run;
    /** @type {(key: string, now: boolean, settings: Partial<State>) => HTMLElement} */
    const one = (key, now, settings) =>
      button(page.say(key), () => page.set(settings), {
        class: "plain", "aria-pressed": String(now), disabled: !run, "data-focus": key,
      });
    return element(
      "span", { class: "choices", role: "group", "aria-label": page.say("editing.shown") },
      one("editing.before", !beside && page.trace === base, { trace: base?.index }),
      one("editing.after", !beside && page.trace === run, { trace: run?.index }),
      one("editing.beside", Boolean(beside), {
        view: "compare", trace: base?.index, other: [run?.index ?? 0, state.layer, state.head], partner: null,
      }),
    );
  }

  /** Show the state. */
  update() {
    this.draw();
    if (!this.base) return;
    this.taking.update();
    this.outcome.update();
    this.next.update();
  }
}

/** The room, on a host that runs texts with edits, in a page's frame. @type {(page: Page, frame: HTMLElement) => Editing} */
export const createEditing = (page, frame) => {
  const editing = new Editing(page);
  editing.asking.listen(frame);
  return editing;
};
