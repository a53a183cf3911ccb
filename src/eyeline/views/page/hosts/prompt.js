// The prompt: a field for a new text, the model, the files of a folder, and the progress of a run.

import { button, choice, element, tick } from "../drawing/dom.js";
import { createDropdown } from "../frame/dropdown.js";
import { FORGOTTEN } from "../pickers.js";
import { HostError } from "../host_error.js";

const SOON = 500; // milliseconds before the progress is shown

/** The panel, on a host that runs texts. @type {(page: Page) => PagePart} */
export const createPrompt = (page) => {
  const { model } = page;
  const { models, files = [] } = page.header.can;
  const chosen = { model: models[0], file: "0" };
  const changes = { ahead: true, scaled: true };
  const text = element("textarea", { rows: 1, dir: "auto", spellcheck: "false" });
  const row = element("div", { class: "tools" });
  const far = element("span", { class: "far quiet" });
  const progress = element("div", { class: "wide", hidden: true }, far);
  const trouble = element("p", { class: "trouble wide", role: "alert", hidden: true });
  const { element: details, summary, panel: options } = createDropdown();
  const panel = element("form", { class: "prompt" }, text, row, progress, trouble);
  let sizes = page.header.can.fetch ?? {}; // the sizes in megabytes of the models that aren't downloaded yet
  let running = false;
  let filled = ""; // the text that the page entered into the field
  /** @type {Language | null} */
  let language = null;
  /** @type {HTMLButtonElement | null} */
  let run = null;
  /** @type {HTMLButtonElement | null} */
  let open = null;

  /**
   * A list with its label, the text of `key`.
   * @type {(key: "model" | "file", given: [value: string | number, text: string][]) => HTMLElement}
   */
  const listed = (key, given) => {
    const list = choice(page.say(`prompt.${key}`), given, chosen[key], (value) => (chosen[key] = value));
    list.title = page.say(`prompt.${key}`);
    return list;
  };

  /** @type {(name: string) => string} */
  const named = (name) => (name in sizes ? page.say("prompt.fetch", { model: name, size: sizes[name] }) : name);

  const show = () => {
    for (const one of [run, open]) if (one) one.disabled = running;
  };

  /** @type {(report: RunReport, name: string) => void} */
  const say = ({ layers: [done, count], line, seconds }, name) => {
    const values = { model: name, line, done, count, seconds: Math.round(seconds) };
    far.textContent = page.say(count ? "prompt.layer" : line ? "prompt.line" : "prompt.begun", values);
    if (seconds * 1000 < SOON) return;
    if (progress.hidden) page.announce(far.textContent); // announced once: every second would be too often
    progress.hidden = false;
  };

  /** @type {(error: unknown) => void} */
  const failed = (error) => {
    trouble.replaceChildren(page.say("prompt.failed", { reason: page.reason(error) }));
    const job = error instanceof HostError ? error.job : null;
    if (job) trouble.append(" ", button(page.say("prompt.other"), () => stop(job), { class: "plain" }));
    trouble.hidden = false;
  };

  /** @type {(job?: number) => Promise<void>} */
  const stop = async (job) => {
    try {
      await model.cancel?.(job);
      if (job) trouble.hidden = true;
    } catch (error) {
      failed(error);
    }
  };

  /** @type {(what: { text: string } | { file: number }) => Promise<void>} */
  const ask = async (what) => {
    if (running || !model.run) return;
    running = true;
    trouble.hidden = true;
    show();
    /** @type {RunRequest} */
    const settings = { model: chosen.model, mask: changes.ahead ? null : "causal", scale: changes.scaled ? null : 1 };
    try {
      const made = await model.run({ ...what, ...settings }, (report) => say(report, settings.model));
      if (made) {
        const { traces, can } = made.header;
        page.header.can.edit = can.edit;
        for (const entry of traces.slice(page.traces.length)) page.add(entry);
        const left = can.fetch ?? {};
        if (settings.model in sizes && !(settings.model in left)) {
          sizes = left; // the model is downloaded now
          label();
        }
        const seen = page.places().length ? {} : /** @type {const} */ ({ view: "sentence" }); // no view of a text is open
        page.set({ ...seen, ...FORGOTTEN, trace: made.trace });
      }
      page.announce(page.say(made ? "prompt.done" : "prompt.cancelled"));
    } catch (error) {
      failed(error);
    }
    running = false;
    progress.hidden = true;
    show();
  };

  const asked = () => ask({ text: text.value });
  panel.addEventListener("submit", (event) => {
    event.preventDefault();
    asked();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    asked();
  });

  const label = () => {
    text.setAttribute("aria-label", page.say("prompt.text"));
    text.placeholder = page.say("prompt.text");
    run = button(page.say("prompt.run"), asked, { class: "plain run", title: page.say("prompt.keys") });
    const cancel = button(page.say("prompt.cancel"), () => stop(), { class: "plain" });
    const opening = () => ask({ file: Number(chosen.file) });
    open = files.length ? button(page.say("prompt.open"), opening, { class: "plain" }) : null;
    progress.replaceChildren(cancel, " ", far);
    const changed = () => {
      const count = Number(!changes.ahead) + Number(!changes.scaled);
      summary.textContent = count ? page.say("prompt.changes.count", { count }) : page.say("prompt.changes");
    };
    options.replaceChildren(
      tick(page.say("prompt.causal"), !changes.ahead, (on) => {
        changes.ahead = !on;
        changed();
      }),
      tick(page.say("prompt.unscaled"), !changes.scaled, (on) => {
        changes.scaled = !on;
        changed();
      }),
    );
    changed();
    row.replaceChildren(
      run,
      listed("model", models.map((name) => [name, named(name)])),
      details,
      ...(open ? [listed("file", files.map((file, at) => [at, file.name])), open] : []),
    );
    show();
  };

  const update = () => {
    if (language !== page.language) label();
    language = page.language;
    // The shown text can be edited and run again; text typed in the meantime stays.
    const seen = (page.trace?.queries.text ?? "").replace(/\r\n?/g, "\n"); // with a field's line ends
    if (text.value === filled) text.value = seen;
    filled = seen;
  };
  return { element: panel, update };
};
