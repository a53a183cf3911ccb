// The map of all heads, layers × heads: one measure in colour, each head's kind as a sign.

import { contextOf, element } from "../../drawing/dom.js";
import { paintRamp } from "../../drawing/scale_bar.js";
import {
  deeds, differenceSaid, doing, endOf, endSaid, measureSaid, meaningOf, plain, unitOf, valueSaid,
} from "../measures.js";
import { shortName, subtracts } from "../provenance.js";
import { createBoard } from "./board.js";
import { fillControls, grouped } from "./controls.js";
import { colourOf } from "./drawing.js";
import { findingOf, nameOf } from "./finding.js";
import { fillKindFilter, ruleOf } from "./kind_filter.js";
import { ordered } from "./layout.js";
import { mapPicture } from "./picture.js";
import { createTable } from "./table.js";

const RAMP = [150, 12]; // pixels

/** The view. @type {(page: SurveyPage) => SurveyView} */
export const createMap = (page) => {
  const controls = element("div", { class: "pickers" });
  const filter = element("div", { class: "map-kinds", role: "group" });
  const legend = element("div", { class: "map-legend" });
  const boards = element("div", { class: "map-boards" });
  const keys = element("p", { class: "unseen", id: `${page.id}-map-keys` });
  /** @type {ReturnType<typeof createBoard>[]} */
  let made = [];
  /** @type {MapContent[]} */
  let shown = [];

  /** The words of a head: what it does, the measure. @type {(survey: MeasuredHeads, at: number, end: number) => string[]} */
  const lines = (survey, at, end) => {
    const { measure } = page.state;
    const value = survey.all(measure)[at];
    const number = Number.isNaN(value) ? page.say("survey.nothing") : valueSaid(page, measure, value, end);
    return [
      doing(page, survey, Math.floor(at / survey.heads), at % survey.heads),
      page.say("survey.is", { measure: measureSaid(page, measure), number }),
    ];
  };
  /** What each layer has altogether: its mean, or how many heads of the chosen kind. @type {(survey: MeasuredHeads, values: Float64Array, end: number) => MapContent["sums"]} */
  const sums = (survey, values, end) => {
    const { kind, measure } = page.state;
    const layers = Array.from({ length: survey.depth }, (_, layer) => {
      const own = Array.from({ length: survey.heads }, (__, head) => layer * survey.heads + head);
      if (kind) return own.filter((at) => survey.kind[at] === kind).length;
      const there = own.map((at) => values[at]).filter((value) => !Number.isNaN(value));
      return there.length ? there.reduce((sum, value) => sum + value, 0) / there.length : NaN;
    });
    return {
      title: page.say(kind ? "survey.layer.count" : "survey.layer.mean"),
      parts: layers.map((number) => (kind ? number / survey.heads : Number.isNaN(number) ? 0 : number / end)),
      texts: layers.map((number) => (kind ? String(number) : Number.isNaN(number) ? "–" : valueSaid(page, measure, number, end))),
    };
  };
  const named = (/** @type {KindName} */ kind) => page.say(`kind.short.${kind}`);
  /** The difference, second less first; it has no sums: signed bars would need a scale of their own. @type {() => MapContent} */
  const difference = () => {
    const { state: { measure, kind, order, layer, head }, surveys: [first, second] } = page;
    const [before, after] = [first.all(measure), second.all(measure)];
    const values = after.map((value, at) => value - before[at]);
    const end = endOf(measure, values.map(Math.abs));
    const whole = endOf(measure, [...before, ...after]);
    const kinds = first.kind.map((own, at) => [...new Set([own, second.kind[at]])]);
    return {
      measure, values, end, signed: true, kinds, kind, named, order, heads: first.heads, start: layer * first.heads + head,
      sums: { title: "", parts: [], texts: [] },
      title: page.say("survey.difference.title", {
        first: shortName(page, 0), second: shortName(page, 1),
      }),
      texts: (at) => [
        `${nameOf(first, at)}: ${differenceSaid(page, measure, values[at], end)}`,
        ...[first, second].map((one, number) => {
          const does = deeds(page, one, Math.floor(at / one.heads), at % one.heads);
          return `${shortName(page, number)}: ${valueSaid(page, measure, one.all(measure)[at], whole)} · ${does}`;
        }),
      ],
    };
  };
  /** @type {() => MapContent[]} */
  const contents = () => {
    const { state: { measure, kind, order, layer, head, survey: chosen }, surveys } = page;
    if (subtracts(page.state, page.surveys)) return [difference()];
    const tables = surveys.map((survey) => survey.all(measure));
    const end = endOf(measure, tables.flatMap((values) => [...values]));
    return surveys.map((survey, at) => ({
      measure, values: tables[at], end, signed: false, kinds: survey.kind.map((one) => [one]), kind, named, order, heads: survey.heads,
      start: at === chosen ? layer * survey.heads + head : 0,
      sums: sums(survey, tables[at], end),
      title: `${survey.name} · ${survey.model.name}`,
      texts: (/** @type {number} */ one) => lines(survey, one, end),
    }));
  };

  /** The scale in words: what it is of, and its ends. */
  const scale = () => {
    const { measure } = page.state;
    const [{ end, signed }] = shown;
    const name = measureSaid(page, measure);
    const points = signed && unitOf(measure) === "share";
    const most = points ? page.say("survey.unit.points", { number: plain(100 * end) }) : endSaid(page, measure, end);
    const least = points ? plain(100 * end) : most;
    return {
      name: signed ? page.say("survey.difference.of", { measure: name }) : name,
      least: signed ? `−${least}` : "0", most: signed ? `+${most}` : most,
    };
  };
  const fillLegend = () => {
    const [{ signed }] = shown;
    const canvas = element("canvas", { width: RAMP[0], height: RAMP[1], class: "painted", "aria-hidden": "true" });
    paintRamp(contextOf(canvas), RAMP[0], RAMP[1], (part) =>
      colourOf({ end: 1, signed }, signed ? 2 * part - 1 : part, page.dark));
    const { name, least, most } = scale();
    const missing = shown.some(({ values }) => values.some((value) => Number.isNaN(value)));
    legend.replaceChildren(
      element("p", { class: "scale" },
        element("strong", {}, name), " ", least, " ", canvas, " ", most),
      element("p", { class: "quiet" }, meaningOf(page, page.state.measure)),
      ...(page.state.kind ? [element("p", { class: "quiet" },
        page.say("survey.kind.counts", { kind: page.say(`kind.${page.state.kind}`), rule: ruleOf(page, page.state.kind) }))] : []),
      ...(missing ? [element("p", { class: "quiet" }, element("span", { class: "swatch painted" }), page.say("survey.nothing"))] : []),
    );
  };

  const table = createTable(page, () => {
    const { state: { measure, order }, surveys } = page;
    const columns = shown.map(({ values, end, signed }) => ({ values, end, signed }));
    const [{ values, heads }] = shown;
    const several = surveys.length > 1 && !surveys[0].fits(surveys[1]);
    // Of surveys of other shapes, a table of each would be needed: the first is told, and the export has both.
    const list = ordered(order, values, heads);
    const told = several ? [surveys[0]] : surveys;
    return {
      columns: [
        page.say("head"),
        ...told.map((one) => (told.length > 1 ? `${page.say("survey.kind")} · ${one.name}` : page.say("survey.kind"))),
        ...(several ? columns.slice(0, 1) : columns).map((_, at) =>
          columns.length > 1 && !several ? `${measureSaid(page, measure)} · ${surveys[at].name}` : measureSaid(page, measure)),
      ],
      count: list.length,
      row: (at) => {
        const one = list[at];
        const texts = (several ? columns.slice(0, 1) : columns).map((column) =>
          (column.signed ? differenceSaid : valueSaid)(page, measure, column.values[one], column.end));
        const kinds = told.map(({ entry }) => entry.kinds[one].map((kind) => page.say(`kind.${kind}`)).join(", "));
        return [nameOf(surveys[0], one), ...kinds, ...texts];
      },
    };
  });

  const whole = element("div", { class: "survey-map" }, filter, legend, boards, keys, table.element);
  const update = () => {
    shown = contents();
    fillControls(page, controls);
    fillKindFilter(page, filter);
    fillLegend();
    keys.textContent = page.say("survey.map.keys");
    const differs = subtracts(page.state, page.surveys);
    if (made.length !== shown.length) {
      for (const one of made) one.destroy();
      made = shown.map((_, survey) => createBoard(page, (at) => {
        const { heads } = page.surveys[survey];
        page.set({ view: "head", survey: subtracts(page.state, page.surveys) ? page.state.survey : survey, layer: Math.floor(at / heads), head: at % heads });
      }));
      boards.replaceChildren(...made.map((one) => one.element));
    }
    boards.dataset.boards = String(shown.length);
    boards.dataset.titled = page.surveys.length > 1 || differs ? "yes" : "no";
    made.forEach((one, at) => one.update(shown[at]));
    table.update();
  };

  const numbers = () => {
    const { state, surveys } = page;
    const names = grouped(page).flat();
    const differs = subtracts(page.state, page.surveys);
    const columns = [
      "input", "model", "documents", "tokens", "window", "overlap", "layer", "head", "kinds", ...names,
      ...(differs ? [`difference_${state.measure}`] : []),
    ];
    return {
      name: "heads",
      columns,
      rows: surveys.flatMap((survey, at) => {
        const { counts, settings } = survey.entry;
        const tables = names.map((name) => survey.all(name));
        return ordered(state.order, survey.all(state.measure), survey.heads).map((one) => [
          survey.name, survey.model.name, counts.documents, counts.tokens, settings.window, settings.overlap,
          Math.floor(one / survey.heads), one % survey.heads, survey.entry.kinds[one].join(" "),
          ...tables.map((values) => values[one]),
          ...(differs ? [at === 1 ? shown[0].values[one] : null] : []),
        ]);
      }),
    };
  };

  return {
    element: whole,
    controls,
    sentence: () => {
      const [first] = shown;
      return findingOf(page, first?.signed ? { values: first.values, end: first.end } : null);
    },
    update,
    numbers,
    picture: () => mapPicture(page, whole, scale(), made.map((one) => one.shown())),
    destroy: () => {
      for (const one of made) one.destroy();
    },
  };
};
