// The frame of the page: its title line, tabs, controls and the current view, over the model object of any host.

import { createCompare } from "./compare/compare.js";
import { createCost } from "./cost/cost.js";
import { element } from "./drawing/dom.js";
import { createControls } from "./frame/controls.js";
import { createDrawer } from "./frame/drawer.js";
import { keepFocus } from "./frame/focus.js";
import { createHeadline } from "./frame/headline.js";
import { createHistory } from "./frame/history.js";
import { onKeys } from "./frame/keys.js";
import { createNotes } from "./frame/notes.js";
import { createTabs } from "./frame/tabs.js";
import { createTools } from "./frame/tools.js";
import { createLesson } from "./lesson/lesson.js";
import { createMatrix } from "./matrix/matrix.js";
import { createOverview } from "./overview/overview.js";
import { Page } from "./page.js";
import { createPositions } from "./positions/positions.js";
import { usualPlaces } from "./provenance.js";
import { createSentence } from "./sentence/sentence.js";
import { createSteps } from "./steps/steps.js";
import { onHostTheme } from "./theme.js";
import { createToy } from "./toy/toy.js";

/** The views, in the order of their tabs. @type {Partial<Record<ViewName, (page: Page) => View>>} */
const VIEWS = {
  sentence: createSentence,
  steps: createSteps,
  matrix: createMatrix,
  overview: createOverview,
  compare: createCompare,
  toy: createToy,
  positions: createPositions,
  cost: createCost,
};

const NAMES = /** @type {ViewName[]} */ (Object.keys(VIEWS));
/** The views that need no text. @type {ViewName[]} */
const TEXTLESS = ["toy", "positions", "cost"];

/** Show the page in an element; returns a function that ends it. @type {Main["render"]} */
const render = ({ model, el, rooms }) => {
  const live = element("p", { class: "unseen", "aria-live": "polite" });
  const page = new Page(model, (text) => {
    live.textContent = text;
  }, rooms);
  const alone = Boolean(model.get("address"));
  /** @type {{ name: ViewName, part: View, ready: boolean } | null} A view is ready once it has shown something. */
  let view = null;
  const current = () => view?.part ?? null;
  const ready = () => (view?.ready ? view.part : null);
  const shownView = () => {
    if (!view) throw new Error(page.say("nothing.shown"));
    return view.part;
  };
  page.places = () => ready()?.places?.() ?? usualPlaces(page);
  const names = () => NAMES.filter((name) => page.traces.length || TEXTLESS.includes(name));

  // JupyterLab would take the page's keys for its own commands; a press beside its parts gives the focus to the frame.
  const notebook = alone ? {} : { "data-lm-suppress-shortcuts": true, tabindex: -1 };
  const frame = element("div", { class: "eyeline", role: "region", ...notebook });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: true });
  const panel = element("section", { id: `${page.id}-view`, class: "panel", role: "tabpanel", tabindex: -1 });
  page.typing = rooms?.createTyping?.(page) ?? null;
  const lesson = createLesson(page);
  const slot = element("aside", { id: `${page.id}-lesson`, class: "lesson-slot", hidden: true }, lesson.element);
  const imprint = element("p", { class: "imprint" }); // on paper alone
  const headline = createHeadline(page, ready);
  const [tabs, tools] = [createTabs(page, names), createTools(page, shownView)];
  const [controls, notes] = [createControls(page, current), createNotes(page)];
  const prompt = page.typing?.prompt ?? model.createPrompt?.(page); // only with a host that runs texts
  page.editing = rooms?.createEditing?.(page, frame) ?? null;
  /** @type {() => HTMLElement} */
  const place = () => element("div", { class: "place-of" });
  const [ofTools, ofPrompt, ofControls] = [place(), place(), place()];
  const drawer = createDrawer(page, [
    [controls.element, ofControls],
    ...(page.typing ? [/** @type {[HTMLElement, HTMLElement]} */ ([page.typing.prompt.models, page.typing.prompt.place])] : []),
    ...(prompt && !page.typing ? [/** @type {[HTMLElement, HTMLElement]} */ ([prompt.element, ofPrompt])] : []),
    [tools.element, ofTools],
  ]);
  if (page.typing) ofPrompt.append(page.typing.prompt.element); // also on a phone: typing is what such a page is for
  frame.append(
    element("header", { class: "masthead" }, headline.title, drawer.opener, ofTools, headline.says),
    ofPrompt, drawer.element, tabs.element, ofControls, ...(page.editing ? [page.editing.element] : []), notes.element, trouble,
    element("div", { class: "work" }, slot, panel), imprint, live,
  );
  el.append(frame);

  /** @type {(error: unknown) => void} */
  const failed = (error) => {
    trouble.textContent = page.say("failed", { reason: page.reason(error) });
    trouble.hidden = false;
  };
  const show = async () => {
    const name = page.state.view;
    const create = VIEWS[name];
    if (view?.name !== name && create) {
      view?.part.destroy?.();
      view = { name, part: create(page), ready: false };
      panel.replaceChildren(view.part.element);
      panel.dataset.view = name;
    }
    const [shown, still] = [view, page.current()];
    panel.setAttribute("aria-labelledby", `${page.id}-tab-${name}`);
    controls.update();
    if (!shown?.ready) headline.update();
    try {
      await shown?.part.update();
      if (shown !== view) return;
      if (shown) shown.ready = true;
      trouble.hidden = true;
    } catch (error) {
      if (still()) failed(error); // what was overtaken has nothing to say: the text may be another by now
    }
    for (const part of [headline, notes, ...(page.editing ? [page.editing] : [])]) part.update();
    controls.settle();
    imprint.textContent = page.provenanceParts().join(" · ");
  };
  const address = createHistory(page);
  const update = () => {
    if (!names().includes(page.state.view) && names().length) {
      page.set({ view: names()[0] });
      return;
    }
    const look = page.dark ? "dark" : "light";
    if (frame.lang !== page.language) frame.setAttribute("aria-label", page.say("app"));
    if (frame.lang !== page.language) frame.lang = page.language;
    if (frame.dataset.theme !== look) frame.dataset.theme = look;
    slot.hidden = page.state.stop === null || !page.canLesson;
    for (const part of [tabs, tools, drawer, ...(prompt ? [prompt] : [])]) part.update();
    if (alone) address.note();
    else if (model.set && model.get("words") !== page.words) {
      model.set("words", page.words);
      model.save_changes?.();
    }
    show();
    lesson.update();
  };
  page.retell = headline.retell;
  const ends = [
    page.listen(update),
    ...(page.editing ? [page.listen(page.editing.settle)] : []),
    onHostTheme(() => update()),
    onKeys(page, frame, names, tools.help),
    keepFocus(frame, panel),
    drawer.stop,
    address.stop,
  ];
  if (alone) address.begin();
  else page.restore(model.get("words") ?? "");
  return () => {
    for (const end of ends) end();
    view?.part.destroy?.();
  };
};

export default { render };
