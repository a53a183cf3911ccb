// One example with all of its context: its links, its strongest keys in numbers, and its document.

import { button, element } from "../../drawing/dom.js";
import { named, onScale, printable } from "../../drawing/labels.js";
import { createLinks } from "../../sentence/links.js";
import { localNumber } from "../../language.js";
import { documentSaid } from "./document_measures.js";
import { awaySaid, lookSaid, textOf } from "./example_words.js";
import { keysOf, partsOf, queryOf } from "./excerpt.js";
import { createOpening } from "./opening.js";
import { tokenLine } from "./token_spans.js";

const WIDEST = 14; // pixels of a link at the scale's end

/** @param {SurveyPage} page */
export const createExampleDetail = (page) => {
  const heading = element("h3", {});
  const stage = element("div", { class: "detail-stage" });
  const links = createLinks(stage);
  const keys = element("ol", { class: "detail-keys", role: "list" });
  const facts = element("dl", { class: "detail-facts" });
  const opening = createOpening(page);
  const status = element("span", { class: "quiet", role: "status" });
  const tools = element("div", { class: "tools" });
  const whole = element("article", { class: "example-detail" }, heading, stage, keys, facts, tools, opening.element);
  /** @type {LookExample | null} */
  let shown = null;
  let drawn = ""; // how it was drawn
  let lay = () => {};

  /** @type {(example: LookExample) => Promise<void>} */
  const copy = async (example) => {
    const text = textOf(partsOf(example), example);
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = page.say("export.copied");
    } catch {
      status.textContent = page.say("export.refused");
    }
  };

  /** @type {(example: LookExample, at: number, end: number) => HTMLElement} */
  const row = (example, at, end) => {
    const { tokens, weights, special } = example;
    return element("li", {},
      element("bdi", { class: "measure-name" }, named(tokens[at])),
      element("span", { class: "quiet" }, awaySaid(page, example, at)),
      element("span", { class: "measure-room", "aria-hidden": "true" },
        element("span", { class: special[at] ? "measure-fill aside" : "measure-fill", style: { width: `${(100 * weights[at]) / end}%` } })),
      element("span", { class: "measure-number" }, onScale(weights[at], end)));
  };

  /** Show an example; null for none. @type {(example: LookExample | null, end: number) => void} */
  const show = (example, end) => {
    whole.hidden = !example;
    const now = `${page.language} ${page.dark} ${end}`;
    if (!example || (example === shown && now === drawn)) return;
    [shown, drawn] = [example, now];
    status.textContent = "";
    heading.textContent = page.say("survey.head.example", { rank: localNumber(page, example.rank + 1), look: lookSaid(page, example, end) });
    const { line, spans } = tokenLine(page, example, partsOf(example), end);
    stage.replaceChildren(links.element, line);
    const found = keysOf(example);
    const others = 1 - found.reduce((sum, at) => sum + example.weights[at], 0);
    keys.replaceChildren(...found.map((at) => row(example, at, end)));
    if (others > 5e-4) {
      keys.append(element("li", {}, element("span", { class: "quiet" }, page.say("survey.head.others")), element("span", {}), element("span", {}),
        element("span", { class: "measure-number quiet" }, onScale(others, end))));
    }
    /** @type {[string, Child][]} */
    const known = [
      ...(example.file ? /** @type {[string, Child][]} */ ([["survey.head.file", printable(example.file)], ["survey.head.in.file", localNumber(page, example.place)]]) : []),
      ["survey.head.in.corpus", localNumber(page, example.document)],
      ["survey.head.window", page.say("survey.head.window.token", { window: example.window, token: example.query })],
    ];
    facts.replaceChildren(...known.map(([key, text]) => element("div", {}, element("dt", { class: "quiet" }, page.say(key)), element("dd", {}, element("bdi", {}, text)))));
    documentSaid(page, example.document).then((said) => {
      if (shown !== example || !said) return;
      facts.append(element("div", {}, element("dt", { class: "quiet" }, page.say("survey.head.document.measures")), element("dd", {}, said)));
    });
    tools.replaceChildren(button(page.say("survey.head.copy"), () => copy(example), { class: "plain" }), status);
    opening.show(example);
    lay = () => {
      const looker = spans.get(queryOf(example));
      if (!looker || !stage.clientWidth) return;
      const ends = found.filter((at) => spans.has(at)).map((at) => ({
        at, seen: /** @type {HTMLElement} */ (spans.get(at)), looker, share: example.weights[at] / end, faded: false,
      }));
      links.laid(ends, spans.values(), WIDEST, false, getComputedStyle(line).direction === "rtl")();
      const grey = getComputedStyle(stage).getPropertyValue("--aside");
      for (const path of links.element.querySelectorAll("path")) {
        if (example.special[Number(path.getAttribute("data-unit"))]) path.setAttribute("fill", grey);
      }
    };
    lay();
  };
  const watch = new ResizeObserver(() => lay());
  watch.observe(stage);
  return {
    element: whole, show,
    destroy() {
      watch.disconnect();
    },
  };
};
