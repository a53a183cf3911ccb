// A field in which a text is typed: the picture follows, and what was typed last replaces what was typed before.

import { element } from "../drawing/dom.js";

const QUICK = 80; // milliseconds: a run that takes no longer is made with every key
const LONGEST = 400; // the longest pause, in milliseconds, until a run that takes longer is made
const SOON = 500; // milliseconds before the progress is shown

/** Bytes that were read, of all, in megabytes. @type {(read: WeightsRead) => Values} */
const megabytes = ({ done, size }) => ({ done: (done / 1e6).toFixed(1), size: (size / 1e6).toFixed(1) });

/** The field, and what is said below it. */
export class TypedField {
  /**
   * @param {Page} page
   * @param {TypedRuns} runs
   * @param {{ label: string, model: () => string, shown: (run: TypedRun) => void, wide?: string }} about `label` is the key of
   *   the field's name, `model` says which one reads its text, `shown` is called with each new run
   */
  constructor(page, runs, { label, model, shown }) {
    this.page = page;
    this.runs = runs;
    this.label = label;
    this.model = model;
    this.shown = shown;
    /** @type {TypedRun | null} The run that the next one replaces. */
    this.draft = null;
    this.asked = ""; // the text that is being run, or was run last
    this.took = 0; // milliseconds of the last run
    /** @type {Promise<TypedRun | null> | null} The run that is under way. */
    this.going = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.text = element("textarea", {
      rows: 1, dir: "auto", spellcheck: "false", autocomplete: "off", autocapitalize: "off", enterkeyhint: "go",
    });
    this.far = element("span", { class: "far quiet" });
    this.stop = element("button", { type: "button", class: "plain" });
    this.progress = element("div", { class: "wide", hidden: true }, this.stop, " ", this.far);
    this.trouble = element("p", { class: "trouble wide", role: "alert", hidden: true });
    this.text.addEventListener("input", () => this.follow());
    this.stop.addEventListener("click", () => runs.stop());
    this.text.addEventListener("keydown", (event) => {
      // A line break is typed with Shift; a key that ends a composition is the input method's.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.keep();
    });
  }

  /** The typed text. */
  get value() {
    return this.text.value;
  }

  /** Put a text into the field that wasn't typed. @param {string} text */
  fill(text) {
    const lines = text.replace(/\r\n?/g, "\n"); // a field's line ends
    if (this.text.value !== lines) this.text.value = lines;
    this.asked = lines;
    clearTimeout(this.timer);
  }

  /** Run what was typed, soon after the last key. */
  follow() {
    clearTimeout(this.timer);
    if (!this.value.trim()) this.trouble.hidden = true;
    if (!this.value.trim() || this.value === this.asked) return;
    if (this.took < QUICK) this.run();
    else this.timer = setTimeout(() => this.run(), Math.min(this.took, LONGEST));
  }

  /** Keep the typed text: the next one is another. Returns its run; null if there is none. */
  async keep() {
    clearTimeout(this.timer);
    const same = this.asked === this.value;
    const run = same && this.going ? await this.going : same && this.draft?.text === this.value ? this.draft : await this.run();
    if (!run) return null;
    if (run === this.draft) this.draft = null;
    this.page.announce(this.page.say("typing.kept"));
    return run;
  }

  /** Run the text as it is now. */
  run() {
    const going = this.made().finally(() => {
      if (this.going === going) this.going = null;
    });
    this.going = going;
    return going;
  }

  /** @returns {Promise<TypedRun | null>} */
  async made() {
    const { runs, draft } = this;
    const text = this.value;
    const model = this.model();
    this.asked = text;
    const began = performance.now();
    /** @type {(report: RunReport) => void} */
    const told = (report) => this.tell(report, model, performance.now() - began);
    try {
      const known = runs.known(text, model);
      const there = known && known.index !== draft?.trace ? known : null; // this text is in the list already
      if (there) await runs.stop();
      const run = there ? runs.asRun(there, text) : await runs.run(text, model, draft, told);
      if (!run) {
        if (this.asked === text) this.asked = "";
        return null;
      }
      if (!there) [this.took, this.draft] = [performance.now() - began, run];
      this.trouble.hidden = true;
      await this.fetched(run);
      runs.following = run.follows;
      this.shown(run);
      runs.following = false;
      return run;
    } catch (error) {
      if (this.asked === text) this.fail(error);
      return null;
    } finally {
      if (!runs.running) this.progress.hidden = true;
    }
  }

  /** Wait for the numbers that the view will show, so that text and picture change at once. @param {TypedRun} run */
  async fetched({ trace }) {
    const { page } = this;
    const { layer, head } = page.state;
    const { depth, heads } = page.traces[trace];
    if (layer < depth && (typeof head !== "number" || head < heads)) await page.attention([trace, layer, head]).catch(() => {});
  }

  /** @param {unknown} error */
  fail(error) {
    const { page, trouble } = this;
    const said = page.say("prompt.failed", { reason: page.reason(error) });
    if (trouble.hidden || trouble.textContent !== said) trouble.textContent = said; // read out once, not with every key
    trouble.hidden = false;
  }

  /** @type {(report: RunReport, model: string, past: number) => void} */
  tell({ layers: [done, count], line, read }, model, past) {
    const { page, far, progress } = this;
    if (past < SOON) return;
    const values = { model, line, done, count, seconds: Math.round(past / 1000) };
    far.textContent = read
      ? page.say("live.reading", megabytes(read)) : page.say(count ? "prompt.layer" : line ? "prompt.line" : "prompt.begun", values);
    if (progress.hidden) page.announce(far.textContent); // announced once: every second would be too often
    progress.hidden = false;
  }

  /** Name the field and its button in the page's language. */
  update() {
    const { page, text } = this;
    text.setAttribute("aria-label", page.say(this.label));
    text.placeholder = page.say(this.label);
    this.stop.textContent = page.say("prompt.cancel");
  }
}
