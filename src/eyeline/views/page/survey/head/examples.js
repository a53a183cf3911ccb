// A head's examples: the looks of largest weight, or a uniform sample of all looks; the list, and the chosen one.

import { button, element } from "../../drawing/dom.js";
import { percent } from "../../drawing/labels.js";
import { shade } from "../../drawing/colour.js";
import { contextOf } from "../../drawing/dom.js";
import { paintRamp } from "../../drawing/scale_bar.js";
import { scaleEnd } from "../../weights/quantity.js";
import { localNumber } from "../../language.js";
import { createExampleDetail } from "./example_detail.js";
import { keepExamples, MOST } from "./example_export.js";
import { createExampleList } from "./example_list.js";
import { ExamplePages } from "./example_pages.js";
import { notHeld } from "./not_held.js";

const SORTS = /** @type {const} */ (["largest", "sample"]);

/** @param {SurveyPage} page */
export const createExamples = (page) => {
  const title = element("h2", {});
  const choices = element("div", { class: "tools", role: "group" });
  const about = element("p", { class: "quiet" });
  const canvas = element("canvas", { width: 320, height: 20 });
  const [quantity, most] = [element("span", {}), element("span", {})];
  const scale = element("span", { class: "heat-scale quiet" }, quantity, element("span", {}, "0"), canvas, most);
  const keeping = element("span", { class: "tools" });
  const status = element("span", { class: "quiet", role: "status" });
  const trouble = element("p", { class: "trouble", role: "alert", hidden: true });
  const detail = createExampleDetail(page);
  const list = createExampleList(page, (rank) => page.set({ example: rank }));
  const none = element("p", { class: "quiet" });
  const room = element("div", { class: "examples-room" }, list.element, detail.element);
  const whole = element("section", { class: "examples" }, title, choices, about, element("div", { class: "tools" }, scale, keeping, status), trouble, none, room);
  /** @type {ExamplePages | null} */
  let pages = null;
  let place = "";
  let end = 1;
  let language = "";
  let last = 0; // the rank that was shown

  /** @type {(kind: "csv" | "json") => Promise<void>} */
  const keep = async (kind) => {
    if (!pages) return;
    status.textContent = page.say("export.making");
    try {
      const { sort } = page.state;
      const found = await pages.all(sort, MOST);
      const name = keepExamples(page, sort, found, kind);
      const cut = pages.totals[sort] > found.length;
      status.textContent = page.say(cut ? "survey.head.kept.first" : "export.kept", { name, count: localNumber(page, found.length) });
    } catch (error) {
      status.textContent = page.say("failed", { reason: page.reason(error) });
    }
  };

  const label = () => {
    const { sort } = page.state;
    title.textContent = page.say("survey.head.examples");
    choices.setAttribute("aria-label", title.textContent);
    choices.replaceChildren(...SORTS.map((one) =>
      button(page.say(`survey.head.sort.${one}`), () => page.set({ sort: one, example: 0 }), { class: "plain", "aria-pressed": String(one === sort) })));
    const total = pages?.totals[sort] ?? 0;
    about.textContent = !total ? "" : page.say(`survey.head.sort.${sort}.about`, { count: localNumber(page, total), tokens: localNumber(page, page.survey.entry.counts.text_tokens) });
    quantity.textContent = page.say("survey.head.weight");
    most.textContent = percent(end);
    const { dark } = page;
    paintRamp(contextOf(canvas), canvas.width, canvas.height, (part) => shade(part, dark));
    keeping.replaceChildren(...(total ? /** @type {const} */ (["csv", "json"]).map((kind) =>
      button(kind.toUpperCase(), () => keep(kind), { class: "plain", title: page.say("survey.head.keep", { kind: kind.toUpperCase() }) })) : []));
  };

  const draw = () => {
    if (!pages) return;
    const { sort, example: chosen } = page.state;
    const { failed } = pages;
    const lacking = failed ? notHeld(page, failed) : null;
    trouble.hidden = !failed || lacking !== null;
    if (failed) trouble.textContent = page.say("failed", { reason: page.reason(failed) });
    const first = pages.get("largest", 0);
    if (first) end = scaleEnd([first.weight]);
    label();
    const total = pages.totals[sort];
    none.hidden = !lacking && (total > 0 || first === null);
    none.textContent = none.hidden ? "" : (lacking ?? page.say("survey.head.no.examples"));
    for (const part of [choices, about, scale]) part.hidden = lacking !== null;
    room.hidden = !none.hidden;
    list.show(pages, sort, end, Math.min(chosen, Math.max(total - 1, 0)));
    detail.show(pages.get(sort, chosen) ?? null, end);
  };

  const update = () => {
    const { survey, layer, head, sort, example } = page.state;
    const now = `${survey} ${layer} ${head}`;
    if (now !== place) {
      if (place && example && example === last) {
        page.set({ example: 0 }); // another head is gone to from the same place of the list
        return;
      }
      place = now;
      status.textContent = "";
      pages = new ExamplePages(page, { other: survey, layer, head }, draw);
      pages.need("largest", 0, 1); // whose weight is the end of the scale
    }
    last = example;
    pages?.need(sort, example, example + 1);
    if (language && language !== page.language) list.again();
    language = page.language;
    draw();
  };
  return {
    element: whole, update,
    destroy() {
      list.destroy();
      detail.destroy();
    },
  };
};
