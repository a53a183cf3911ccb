// The frame of the page: tabs, tools and the current view, over the model object of any host.

import { createCompare } from "./compare/compare.js";
import { button, choice, element, targetOf } from "./drawing/dom.js";
import { createHelp } from "./help.js";
import { createExport } from "./export/export.js";
import { createMatrix } from "./matrix/matrix.js";
import { createOverview } from "./overview/overview.js";
import { Page } from "./page.js";
import { createPickers, neighbour } from "./pickers.js";
import { createSentence } from "./sentence/sentence.js";
import { wordsIn } from "./state.js";
import { createSteps } from "./steps/steps.js";
import { onHostTheme } from "./theme.js";
import { LANGUAGES } from "./words.js";

/** @type {Record<ViewName, (page: Page) => View>} */
const VIEWS = {
  sentence: createSentence,
  overview: createOverview,
  matrix: createMatrix,
  steps: createSteps,
  compare: createCompare,
};

const NAMES = /** @type {ViewName[]} */ (Object.keys(VIEWS));

/** @type {(page: Page) => PagePart} */
const tabs = (page) => {
  const list = element("div", { class: "tabs", role: "tablist" });
  const update = () => {
    const focused = list.contains(document.activeElement);
    list.setAttribute("aria-label", page.say("view"));
    list.replaceChildren(
      ...NAMES.map((name) => {
        const chosen = page.state.view === name;
        return button(page.say(`view.${name}`), () => page.set({ view: name }), {
          role: "tab",
          id: `${page.id}-tab-${name}`,
          "aria-selected": String(chosen),
          "aria-controls": `${page.id}-view`,
          tabindex: chosen ? 0 : -1,
        });
      }),
    );
    /** @type {HTMLElement | null} */
    const selected = list.querySelector("[aria-selected=true]");
    if (focused) selected?.focus();
  };
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    page.set({ view: NAMES[(NAMES.indexOf(page.state.view) + step + NAMES.length) % NAMES.length] });
  });
  return { element: list, update };
};

/** @type {(page: Page, view: () => View) => PagePart & { help: { open(): void } }} */
const tools = (page, view) => {
  const [choices, exporter, help] = [element("span", { class: "tools" }), createExport(page, view), createHelp(page)];
  const update = () => {
    const lists = [
      choice(page.say("language"), LANGUAGES, page.language, (code) =>
        page.set({ language: code === "vi" ? "vi" : "en" }),
      ),
      choice(
        page.say("theme"),
        [["", page.say("theme.own")], ["light", page.say("theme.light")], ["dark", page.say("theme.dark")]],
        page.state.theme ?? "",
        (theme) => page.set({ theme: theme === "light" || theme === "dark" ? theme : null }),
      ),
    ];
    const focused = [...choices.children].findIndex((list) => list === document.activeElement);
    choices.replaceChildren(...lists);
    lists[focused]?.focus();
    exporter.update();
    help.update();
  };
  const row = element("div", { class: "tools" }, exporter.opener, help.opener, choices, exporter.element, help.element);
  return { element: row, update, help };
};

// Keys that work everywhere in the page, except in fields.
/** @type {(page: Page, help: { open(): void }, event: KeyboardEvent) => void} */
const pressed = (page, help, event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || targetOf(event)?.matches("input, textarea, select")) return;
  const { state, trace } = page;
  if (event.key === "?") {
    event.preventDefault();
    help.open();
    return;
  }
  /** @type {Record<string, Partial<State>>} */
  const settings = {
    "[": { layer: state.layer - 1 },
    "]": { layer: state.layer + 1 },
    "{": { head: neighbour(state.head, -1, trace.heads) },
    "}": { head: neighbour(state.head, 1, trace.heads) },
    ...Object.fromEntries(NAMES.map((view, at) => [String(at + 1), { view }])),
  };
  const chosen = settings[event.key];
  if (!chosen) return;
  event.preventDefault();
  page.set(chosen);
};

/** Show the page in an element; returns a function that ends it. @type {Main["render"]} */
const render = ({ model, el }) => {
  const live = element("p", { class: "unseen", "aria-live": "polite" });
  const page = new Page(model, (text) => {
    live.textContent = text;
  });
  /** @type {{ name: ViewName, part: View } | null} */
  let view = null;
  const shownView = () => {
    if (!view) throw new Error("there is no view yet");
    return view.part;
  };
  // JupyterLab would take the page's keys for its own commands.
  const frame = element("div", { class: "eyeline", role: "region", "data-lm-suppress-shortcuts": true });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: true });
  const panel = element("section", { id: `${page.id}-view`, role: "tabpanel", tabindex: -1 });
  const [bar, toolbar, pickers] = [tabs(page), tools(page, shownView), createPickers(page)];
  const prompt = model.createPrompt?.(page); // only with a host that runs texts
  const parts = [bar, toolbar, pickers, ...(prompt ? [prompt] : [])];
  frame.append(
    element("header", { class: "bar" }, bar.element, toolbar.element),
    prompt?.element ?? "", pickers.element, trouble, panel, live,
  );
  el.append(frame);

  /** @type {(error: unknown) => void} */
  const failed = (error) => {
    trouble.textContent = page.say("failed", { reason: page.reason(error) });
    trouble.hidden = false;
  };
  const show = async () => {
    if (view?.name !== page.state.view) {
      view?.part.destroy?.();
      view = { name: page.state.view, part: VIEWS[page.state.view](page) };
      panel.replaceChildren(view.part.element);
    }
    panel.setAttribute("aria-labelledby", `${page.id}-tab-${view.name}`);
    try {
      await view.part.update();
      trouble.hidden = true;
    } catch (error) {
      failed(error);
    }
  };
  const update = () => {
    frame.lang = page.language;
    frame.setAttribute("aria-label", page.say("app"));
    frame.dataset.theme = page.dark ? "dark" : "light";
    for (const part of parts) part.update();
    if (model.get("address")) history.replaceState(null, "", `#${page.words.replaceAll(" ", "&")}`);
    else if (model.set && model.get("words") !== page.words) {
      model.set("words", page.words);
      model.save_changes?.();
    }
    show();
  };
  const forget = page.listen(update);
  const calm = onHostTheme(() => update());
  // A page with a window of its own handles keys wherever the focus is.
  const keyed = model.get("address") ? document : frame;
  /** @type {(event: Event) => void} */
  const onKey = (event) => {
    if (event instanceof KeyboardEvent) pressed(page, toolbar.help, event);
  };
  keyed.addEventListener("keydown", onKey);
  const arrived = () => {
    const words = wordsIn(location.hash);
    if (words !== page.words.replaceAll(" ", "&")) page.restore(words);
  };
  if (model.get("address")) {
    addEventListener("hashchange", arrived);
    page.restore(wordsIn(location.hash));
  } else {
    page.restore(model.get("words") ?? "");
  }
  return () => {
    forget();
    calm();
    removeEventListener("hashchange", arrived);
    keyed.removeEventListener("keydown", onKey);
    view?.part.destroy?.();
  };
};

export default { render };
