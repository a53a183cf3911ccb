// How the looks of a head depend on the looking token: a table of its types and positions, as colours and numbers.

import { lightOn, shade } from "../../drawing/colour.js";
import { choice, contextOf, element } from "../../drawing/dom.js";
import { paintRamp } from "../../drawing/scale_bar.js";
import { localNumber } from "../../language.js";
import { endOf, measureSaid, numberSaid, typeName, valueSaid } from "../measures.js";
import { wordOf } from "../measured.js";
import { notHeld } from "./not_held.js";

const FEW = 20; // tokens of which a mean says little: such cells are marked

/** @param {SurveyPage} page */
export const createHeatTable = (page) => {
  const title = element("h2", {});
  const chooser = element("span", { class: "caption" });
  const canvas = element("canvas", { width: 320, height: 20 });
  const [least, most] = [element("span", {}, "0"), element("span", {})];
  const scale = element("span", { class: "heat-scale quiet", "aria-hidden": "true" }, least, canvas, most);
  const table = element("table", { class: "heat-table" });
  const scroller = element("div", { class: "heat-scroller", tabindex: 0, role: "region" }, table);
  const note = element("p", { class: "quiet" });
  const tools = element("div", { class: "tools" }, chooser, scale);
  const whole = element("section", { class: "by-token" }, title, tools, scroller, note);
  let measure = "entropy";
  /** @type {LookingTokens | null} */
  let rows = null;
  /** @type {unknown} Why they couldn't be had. */
  let trouble = null;

  /** The measure of each row. @type {(found: LookingTokens) => number[]} */
  const values = (found) => {
    const type = measure.startsWith("to.") ? page.survey.types.findIndex((one) => `to.${wordOf(one)}` === measure) : -1;
    const column = type < 0 ? found[/** @type {"entropy" | "distance" | "received"} */ (measure)] : found.to.map((row) => row[type]);
    return column.map((value) => value ?? NaN);
  };

  const paint = () => {
    const { survey } = page;
    title.textContent = page.say("survey.head.looking");
    scroller.setAttribute("aria-label", title.textContent);
    /** @type {[string, string][]} */
    const options = [["entropy", measureSaid(page, "entropy")], ["distance", measureSaid(page, "distance")],
      ["received", page.say("survey.head.received")],
      ...survey.types.map((type) => /** @type {[string, string]} */ ([`to.${wordOf(type)}`, measureSaid(page, `to.${wordOf(type)}`)]))];
    if (!options.some(([name]) => name === measure)) measure = "entropy";
    chooser.replaceChildren(choice(page.say("survey.head.looking.choose"), options, measure, (value) => {
      measure = value;
      paint();
    }));
    const lacking = trouble ? (notHeld(page, trouble) ?? page.say("failed", { reason: page.reason(trouble) })) : null;
    note.textContent = lacking ?? page.say("survey.head.looking.note");
    tools.hidden = lacking !== null;
    if (!rows) {
      table.replaceChildren();
      return;
    }
    const found = rows;
    const unit = measure === "received" ? "received." : measure;
    const numbers = values(found);
    const positions = [...new Set(found.position)].sort((one, two) => one - two);
    const types = survey.types.filter((type) => found.type.includes(type));
    const end = endOf(unit, numbers);
    const context = contextOf(canvas);
    paintRamp(context, canvas.width, canvas.height, (part) => shade(part, page.dark));
    most.textContent = valueSaid(page, unit, end, end);
    const place = new Map(found.type.map((type, at) => [`${type} ${found.position[at]}`, at]));
    const edges = survey.scales.positions;
    /** @type {(first: number) => string} */
    const range = (first) => {
      const last = (edges.find((edge) => edge > first) ?? first + 1) - 1;
      return last > first ? `${first}–${last}` : String(first);
    };
    /** @type {(type: string, position: number) => HTMLElement} */
    const cell = (type, position) => {
      const at = place.get(`${type} ${position}`);
      if (at === undefined || !found.count[at]) return element("td", { class: "none" });
      const value = numbers[at];
      const about = page.say("survey.head.cell", {
        type: typeName(page, type), range: range(position), count: localNumber(page, found.count[at]),
        value: valueSaid(page, unit, value, end),
      });
      if (Number.isNaN(value)) return element("td", { class: "none", title: about }, "–");
      const part = value / end;
      const style = { background: shade(part, page.dark), color: lightOn(part, page.dark) ? "#fff" : "#000" };
      return element("td", { class: found.count[at] < FEW ? "painted few" : "painted", title: about, style }, numberSaid(unit, value, end));
    };
    table.replaceChildren(
      element("thead", {},
        element("tr", {}, element("th", { scope: "col" }, page.say("survey.head.type")),
          ...positions.map((first) => element("th", { scope: "col" }, range(first))))),
      element("tbody", {}, ...types.map((type) => element("tr", {},
        element("th", { scope: "row" }, typeName(page, type)), ...positions.map((first) => cell(type, first))))),
    );
  };

  /** Show the looking tokens of a head; null while they load. @type {(found: LookingTokens | null) => void} */
  const show = (found) => {
    [rows, trouble] = [found, null];
    paint();
  };
  /** Say why there are none. @type {(error: unknown) => void} */
  const failed = (error) => {
    [rows, trouble] = [null, error];
    paint();
  };
  return { element: whole, show, failed, rows: () => rows };
};
