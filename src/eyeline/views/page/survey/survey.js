// The frame of a survey's page: its title line, controls and the current view, over the model object of any host.

import { element } from "../drawing/dom.js";
import { createDrawer } from "../frame/drawer.js";
import { keepFocus } from "../frame/focus.js";
import { createHistory } from "../frame/history.js";
import { createTools } from "../frame/tools.js";
import { onHostTheme } from "../theme.js";
import { createBar, createReturn } from "./bar.js";
import { createHead } from "./head/head.js";
import { createTitle } from "./title.js";
import { onKeys } from "./keys.js";
import { createMap } from "./map/map.js";
import { createNotes } from "./notes.js";
import { SurveyPage } from "./page.js";

/** @type {Record<SurveyViewName, (page: SurveyPage) => SurveyView>} */
const VIEWS = { map: createMap, head: createHead };

/** Show the page in an element; returns a function that ends it. @type {Main["render"]} */
const render = ({ model, el }) => {
  const live = element("p", { class: "unseen", "aria-live": "polite" });
  const page = new SurveyPage(model, (text) => {
    live.textContent = text;
  });
  const alone = Boolean(model.get("address"));
  /** @type {{ name: SurveyViewName, part: SurveyView } | null} */
  let view = null;
  const current = () => view?.part ?? null;
  const shownView = () => {
    if (!view) throw new Error(page.say("nothing.shown"));
    return view.part;
  };
  // JupyterLab would take the page's keys for its own commands; a press beside its parts gives the focus to the frame.
  const notebook = alone ? {} : { "data-lm-suppress-shortcuts": true, tabindex: -1 };
  const frame = element("div", { class: "eyeline surveyed", role: "region", ...notebook });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: true });
  const panel = element("section", { id: `${page.id}-view`, class: "panel", tabindex: -1 });
  const imprint = element("p", { class: "imprint" }); // on paper alone
  const title = createTitle(page, current);
  const [bar, tools, notes] = [createBar(page, current), createTools(page, shownView), createNotes(page)];
  const nav = createReturn(page);
  const [ofTools, ofBar] = [0, 0].map(() => element("div", { class: "place-of" }));
  const drawer = createDrawer(page, [[bar.element, ofBar], [tools.element, ofTools]]);
  frame.append(
    element("header", { class: "masthead" }, title.element, drawer.opener, ofTools, title.says),
    drawer.element, nav.element, ofBar, notes.element, trouble, element("div", { class: "work" }, panel), imprint, live,
  );
  el.append(frame);

  const show = async () => {
    const name = page.state.view;
    if (view?.name !== name) {
      view?.part.destroy?.();
      view = { name, part: VIEWS[name](page) };
      panel.replaceChildren(view.part.element);
      panel.dataset.view = name;
      if (alone) scrollTo({ top: 0 });
    }
    const shown = view;
    for (const part of [title, bar, nav, notes]) part.update();
    panel.setAttribute("aria-label", title.says.textContent ?? "");
    try {
      await shown.part.update();
      if (shown !== view) return;
      trouble.hidden = true;
    } catch (error) {
      trouble.textContent = page.say("failed", { reason: page.reason(error) });
      trouble.hidden = false;
    }
    title.update();
    imprint.textContent = page.provenanceParts().join(" · ");
  };
  const address = createHistory(page);
  const update = () => {
    frame.lang = page.language;
    frame.setAttribute("aria-label", page.say("app"));
    frame.dataset.theme = page.dark ? "dark" : "light";
    for (const part of [tools, drawer]) part.update();
    if (alone) address.note();
    show();
  };
  const ends = [
    page.listen(update), onHostTheme(update), onKeys(page, frame, tools.help), keepFocus(frame, panel), drawer.stop,
    address.stop,
  ];
  if (alone) address.begin();
  else page.restore("");
  return () => {
    for (const end of ends) end();
    view?.part.destroy?.();
  };
};

export default { render };
