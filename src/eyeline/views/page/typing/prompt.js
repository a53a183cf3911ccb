// The prompt of a page that runs texts itself: the picture follows while one types.

import { button, choice, element } from "../drawing/dom.js";
import { FORGOTTEN, relabelled } from "../pickers.js";
import { asTrained } from "../weights/traces.js";
import { TypedField } from "./field.js";
import { ownSettings } from "./own.js";

/** The text that a trace's model was given. @type {(page: Page, trace: Trace) => string} */
const given = ({ traces }, trace) => {
  if (trace.crossing) return trace.keys.text;
  const cross = trace.name === "decoder" && traces.find((one) => one.crossing && one.queries.text === trace.queries.text);
  return cross ? cross.keys.text : trace.queries.text;
};

/** A pinned token's word in another run: the same word nearest to its place; null if there is none. @type {(page: Page, from: Trace | undefined, to: Trace) => number | null} */
const pinnedIn = ({ state: { token, toward } }, from, to) => {
  if (token === null || !from || toward === "to" || from.crossing !== to.crossing || token >= from.queries.length) return null;
  const word = from.queries.unitOf(token, "words");
  const far = (/** @type {Unit} */ { index }) => Math.abs(index - word.index);
  const same = to.queries.words.filter((one) => one.text === word.text).sort((one, other) => far(one) - far(other));
  return same[0]?.first ?? null;
};

/** @type {(page: Page, runs: TypedRuns) => LivePrompt} */
export const createPrompt = (page, runs) => {
  const { models: names } = page.header.can;
  let chosen = names[0];
  let opening = false; // whether a text that wasn't typed is being run
  /** @type {Trace | undefined} */
  let seen; // what was shown last
  const field = new TypedField(page, runs, {
    label: "prompt.text",
    model: () => chosen,
    shown: ({ trace, model }) => {
      const view = page.places().length ? {} : /** @type {const} */ ({ view: "sentence" }); // no view of a text is open
      const { stop, own, token } = page.state;
      const { lesson } = page.header;
      const made = page.traces[trace];
      const word = made.queries.words.find(({ special }) => !special)?.first; // of a text of one word, which opens at no look
      const pinned = token === null ? null : pinnedIn(page, seen, made) ?? page.openingOf(made)?.token ?? word ?? null;
      const ours = stop !== null && lesson && page.traces[lesson.flies].model.name === model;
      page.set({ ...view, ...FORGOTTEN, token: pinned, trace, ...(ours ? ownSettings(page, [trace, ...own.slice(1)]) : {}) });
    },
  });
  const models = element("span", { class: "models" });
  const place = element("span", {}, models);
  const written = element("p", { class: "wide written", hidden: true, dir: "auto" });
  const { tell } = field;
  field.tell = (report, model, past) => {
    written.hidden = !report.written;
    written.textContent = report.written ? page.say("typing.writes", { text: report.written }) : "";
    tell.call(field, report, model, past);
  };
  const keep = async () => {
    const run = await field.keep();
    update();
    if (run && matchMedia("(pointer: coarse)").matches) field.text.blur(); // a phone's keyboard makes room for the picture
    return run;
  };
  const keeper = button("", () => void keep(), { class: "plain" });
  const row = element("div", { class: "tools" }, keeper, place);
  const panel = element("form", { class: "prompt live" }, field.text, row, written, field.progress, field.trouble);
  panel.addEventListener("submit", (event) => {
    event.preventDefault();
    keep();
  });

  /** @param {string} model */
  const choose = (model) => {
    chosen = model;
    // A model that has a text in this file shows it: another's text would mean little to it.
    const own = page.traces.findLast((one) => one.model.name === model && one.index < runs.given);
    if (own) page.set({ ...FORGOTTEN, trace: own.index });
    else field.run();
  };

  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key !== "Escape" || !runs.running || event.defaultPrevented) return;
    event.preventDefault();
    runs.stop();
    page.announce(page.say("prompt.cancelled"));
  };
  document.addEventListener("keydown", pressed);
  page.model.loaded?.catch((error) => field.fail(error)); // said at once; what the file holds can still be read

  /** @type {Language | null} */
  let language = null;
  const label = () => {
    field.update();
    keeper.textContent = page.say("typing.keep");
    keeper.title = page.say("typing.keep.why");
    models.hidden = names.length < 2;
    relabelled(models, [
      element("span", { class: "caption", "aria-hidden": "true" }, page.say("prompt.model")),
      choice(page.say("prompt.model"), names.map((name) => [name, name]), chosen, choose),
    ]);
  };
  const update = () => {
    const { trace, traces } = page;
    const base = trace && asTrained(traces, trace);
    let stale = language !== page.language;
    if (base && trace !== seen && !opening) {
      const run = runs.of(base);
      if (!run || run !== field.draft) {
        const own = run?.text ?? given(page, base);
        if (own !== field.value) {
          field.draft = null; // what was typed before stays
          field.fill(own);
        }
        field.trouble.hidden = true;
        stale ||= chosen !== base.model.name;
        if (names.includes(base.model.name)) chosen = base.model.name;
      }
      written.hidden = true;
    }
    seen = trace;
    keeper.disabled = !field.draft;
    if (stale) label();
    language = page.language;
  };
  /** @type {LivePrompt["open"]} */
  const open = async (text, model) => {
    [chosen, opening] = [model, true];
    field.fill(text);
    label();
    try {
      return await field.run();
    } finally {
      [field.draft, opening] = [null, false];
    }
  };
  return { element: panel, models, place, update, open, fail: (error) => field.fail(error) };
};
