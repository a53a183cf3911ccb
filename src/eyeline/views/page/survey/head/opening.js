// An example's document, opened in the other views: the host records its window, and shows the sentence at this head.

import { button, element } from "../../drawing/dom.js";

/** @param {SurveyPage} page */
export const createOpening = (page) => {
  const line = element("p", { class: "quiet" });
  const tools = element("span", { class: "tools" });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: true });
  const whole = element("div", { class: "opening" }, tools, line, trouble);
  const host = /** @type {DocumentOpener} */ (/** @type {unknown} */ (page.model));
  let running = false;
  /** @type {LookExample | null} */
  let shown = null;

  /** Why this survey's documents can't be opened here; "yes" if they can. */
  const able = () => {
    const can = /** @type {{ open?: string[] } | undefined} */ (/** @type {any} */ (page.header).can);
    return host.open ? (can?.open?.[page.state.survey] ?? "host") : "host";
  };

  const open = async () => {
    if (running || !shown || !host.open) return;
    running = true;
    trouble.hidden = true;
    paint();
    const { survey: other, layer, head } = page.state;
    const { sort, rank } = shown;
    try {
      const address = await host.open({ other, layer, head, sort, rank }, ({ layers: [done, count], line: said }) => {
        line.textContent = count ? page.say("survey.head.opening", { done, count }) : said || page.say("survey.head.opening.begun");
      });
      if (address) location.assign(address);
    } catch (error) {
      trouble.textContent = page.say("failed", { reason: page.reason(error) });
      trouble.hidden = false;
    }
    running = false;
    paint();
  };

  const paint = () => {
    const why = able();
    const opener = button(page.say("survey.head.open"), open, { class: "plain", disabled: running || why !== "yes" });
    tools.replaceChildren(opener, ...(running ? [button(page.say("survey.head.cancel"), () => host.cancel?.(), { class: "plain" })] : []));
    if (running) line.textContent = page.say("survey.head.opening.begun");
    else line.textContent = page.say(why !== "yes" ? `survey.head.closed.${why}` : shown?.file ? "survey.head.open.about" : "survey.head.closed.corpus");
    if (!running && !shown?.file && why === "yes") opener.disabled = true;
  };

  /** Offer to open an example's document. @type {(example: LookExample) => void} */
  const show = (example) => {
    if (example !== shown) trouble.hidden = true;
    shown = example;
    paint();
  };
  return { element: whole, show };
};
