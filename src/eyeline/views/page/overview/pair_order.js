// The order by a pair: how much one word looks at another in every head.

import { choice, element, phrase } from "../drawing/dom.js";
import { labelled } from "../drawing/labels.js";
import { AttentionMap } from "../weights/attention_map.js";
import { quantities } from "../weights/quantity.js";

const MOST = 1.5e8; // bytes of all heads, up to which they are asked for
const WORDS = 400; // words of a text that a list can hold

/** @typedef {{ query: Unit, key: Unit }} Pair */

/** Whether a trace is small enough for this order. @type {(trace: Trace) => boolean} */
const pairable = ({ queries, keys, depth, heads, model }) => {
  const { head_dim: D, value_dim: E } = model;
  const bytes = 4 * depth * heads * (queries.length * (D + 1) + keys.length * (D + E));
  return bytes <= MOST && Math.max(queries.words.length, keys.words.length) <= WORDS;
};

/** The query that is pinned, if one is. @type {(page: Page) => Unit | null} */
const queryOf = ({ trace, state: { token, toward, unit } }) =>
  token === null || (trace.crossing && toward === "to") ? null : trace.queries.unitOf(token, unit);

/** The two words of the order, if it is chosen. @type {(page: Page) => Pair | null} */
export const pairOf = (page) => {
  const { order, key, unit } = page.state;
  const query = queryOf(page);
  if (order !== "pair" || !query || key === null || !pairable(page.trace)) return null;
  return { query, key: page.trace.keys.unitOf(key, unit) };
};

/**
 * How much the query of a pair looks at its key, for each layer and head: weights, or shares of the words.
 * @type {(page: Page, pair: Pair) => Promise<number[][]>}
 */
export const pairNumbers = async (page, { query, key }) => {
  const { trace, state: { unit, special } } = page;
  const [queries, keys] = [trace.queries.units(unit), trace.keys.units(unit)];
  const shown = [...new Set([...page.shown(keys), ...(special === "out" ? [] : [key.index])])];
  const layers = Array.from({ length: trace.depth }, (_, layer) => layer);
  return Promise.all(layers.map(async (layer) => {
    const all = Array.from({ length: trace.heads }, (_, head) => page.host.head(trace, layer, head));
    const heads = await Promise.all(all);
    return heads.map((head) => {
      const row = new AttentionMap([head], "mean", queries, keys).row(query.index);
      return quantities(row, shown, special).numbers[key.index] || 0; // a key that is left out has none
    });
  }));
};

/**
 * The two lists that choose the words: "[flies] looks at [arrow]"; null if the text is too long.
 * @type {(page: Page) => HTMLElement | null}
 */
export const pairLists = (page) => {
  const { trace, state } = page;
  if (!pairable(trace)) return null;
  const [queries, keys] = [trace.queries.units(state.unit), trace.keys.units(state.unit)];
  /** @type {(units: Unit[]) => [value: string, text: string][]} */
  const options = (units) => [
    ["", "…"],
    ...page.shown(units).map((at) => /** @type {[string, string]} */ ([String(units[at].first), labelled(units[at])])),
  ];
  const [query, pair] = [queryOf(page), pairOf(page)];
  const asker = choice(page.say("overview.pair.query"), options(queries), query ? query.first : "", (value) =>
    page.set({ token: value === "" ? null : Number(value), toward: "from" }),
  );
  const asked = choice(page.say("overview.pair.key"), options(keys), pair ? pair.key.first : "", (value) =>
    page.set(value === "" ? { order: "place" } : { order: "pair", key: Number(value) }),
  );
  asked.disabled = !query;
  return element("span", { class: "stepper pair" }, phrase(page.say("overview.pair"), { query: asker, key: asked }));
};
