// The selection of the sentence view: the unit, the direction, and its weights.

import { named } from "../drawing/labels.js";
import { Totals, average, given, received, summed } from "./row_numbers.js";
import { isDistribution, work } from "../weights/attention_map.js";
import { scaleEnd } from "../weights/quantity.js";

const WORK = 1.5e9; // multiplications beyond which the averages over all units aren't computed
const WHOLE = 6e9; // multiplications beyond which a table has only the drawn and listed shares

/** @type {(one: AttentionMap, other: AttentionMap) => boolean} */
const same = (one, other) =>
  one.reduce === other.reduce && one.queries === other.queries && one.heads.length === other.heads.length &&
  one.heads.every((head, at) => head === other.heads[at]);

/**
 * The shown units of a list, as a list and as a set.
 * @typedef {{ special: SpecialTokens, list: number[], set: Set<number> }} Counted
 */

/** The selection: a pinned unit has precedence over a hovered one, and that over a focused one. */
export class TokenSelection {
  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    /** @type {AttentionMap | null} */
    this.attention = null;
    /** @type {Selected | null} */
    this.hovered = null;
    /** @type {Selected | null} */
    this.focused = null;
    /** @type {WeakMap<Unit[], Counted>} */
    this.lists = new WeakMap();
    /** @type {SpecialTokens} */
    this.special = "grey";
    /** @type {[layer: number, head: HeadChoice]} */
    this.place = [0, "mean"];
    /** @type {Averages | null} What each unit receives on average, once known. */
    this.averages = null;
    /** @type {object | null} Identifies the computation of the averages that is running. */
    this.averaging = null;
    /** @type {{ name: string, of: Totals } | null} What each query gives to some keys. */
    this.totals = null;
  }

  /** The attention map, available once the view is ready. */
  get map() {
    if (!this.attention) throw new Error("there are no weights yet");
    return this.attention;
  }

  /** The drawn sides of the trace: one, or both with cross-attention. @returns {Side[]} */
  get sides() {
    return this.page.trace.crossing ? ["queries", "keys"] : ["queries"];
  }

  /** The side of the keys. @returns {Side} */
  get across() {
    return this.page.trace.crossing ? "keys" : "queries";
  }

  /** @param {Side} side */
  units(side) {
    return this.page.trace[side].units(this.page.state.unit);
  }

  /** Whether the attention map belongs to the drawn text and units: another one may still be loading. */
  get ready() {
    return this.attention?.queries === this.units("queries") && this.attention.keys === this.units(this.across);
  }

  /** The selected unit, or null. @returns {Selected | null} */
  get selected() {
    const { state, trace } = this.page;
    if (state.token === null) return this.hovered ?? this.focused;
    const side = trace.crossing && state.toward === "to" ? "keys" : "queries";
    return { side, unit: trace[side].unitOf(state.token, state.unit).index, pinned: true };
  }

  /** The indices of a side's shown units, always including the selected one. @param {Side} side */
  shown(side) {
    return this._counted(side).list;
  }

  /**
   * The shown units, also as a set; cached, since a line may be very long.
   * @param {Side} side
   */
  _counted(side) {
    const [units, { special }, one] = [this.units(side), this.page.state, this.selected];
    let known = this.lists.get(units);
    if (!known || known.special !== special) {
      const list = this.page.shown(units);
      this.lists.set(units, (known = { special, list, set: new Set(list) }));
    }
    if (one?.side !== side || known.set.has(one.unit)) return known;
    const list = [...known.list, one.unit].sort((a, b) => a - b);
    return { list, set: new Set(list) };
  }

  /** Set the attention map of the current state. @param {AttentionMap} attention */
  take(attention) {
    const { layer, head, special } = this.page.state;
    this.place = [layer, head];
    if (this.attention && same(attention, this.attention) && special === this.special) return;
    if (attention.queries !== this.attention?.queries) [this.hovered, this.focused] = [null, null];
    [this.attention, this.special] = [attention, special];
    this.rest();
  }

  /** Whether the averages take too long in this text. */
  get endless() {
    return work(this.map) > WORK;
  }

  /**
   * Compute what each unit receives on average, unless it takes long or is already running; calls `done` at the end.
   * @param {() => void} done
   */
  async average(done) {
    const { map, special } = this;
    if (this.averaging || this.endless) return;
    const now = {};
    this.averaging = now;
    const [queries, keys] = [this.units("queries"), this.units(this.across)].map((units) => this.page.shown(units));
    const found = await average(map, queries, keys, special, () => this.averaging === now);
    if (!found || this.averaging !== now) return;
    this.averages = found;
    done();
  }

  /** Drop the averages, and stop computing them. */
  rest() {
    [this.averages, this.averaging, this.totals] = [null, null, null];
  }

  /**
   * The reading: `kind` is "from", "to" or "none"; `units`, of `side`, are the key or query units, with their `weights`
   * and `numbers`, which are drawn on a scale from 0 to `end`; `asked` is the selected unit and `one` its index in
   * `ones`; `own` is its index in `units`, null if it isn't among them; `kept` are the shown keys, and `aside` is what
   * the others take; `sums` says whether numbers and `aside` sum to 1; `whole` says whether everything is computed.
   * `near` gives the drawn units of a side.
   * @param {(side: Side) => UnitRange} near
   * @returns {Reading}
   */
  read(near) {
    const { selected: one, map, special } = this;
    const { crossing } = this.page.trace;
    const back = one !== null && (crossing ? one.side === "keys" : this.page.state.toward === "to");
    const side = back ? "queries" : this.across;
    const { list: keys, set: kept } = this._counted(this.across);
    const seen = {
      kind: /** @type {Reading["kind"]} */ (one === null ? "none" : back ? "to" : "from"),
      one, side,
      units: this.units(side),
      ones: one && this.units(one.side),
      asked: one && this.units(one.side)[one.unit],
      own: one && !crossing ? one.unit : null,
      kept,
      sums: !back && isDistribution(map),
      numbers: null, weights: null, aside: 0, whole: true,
    };
    if (one === null) return this._scaled({ ...seen, ...this.averages });
    if (!back) return this._scaled({ ...seen, ...given(map, one.unit, keys, special) });
    const [first, last] = near(side);
    const queries = this.shown(side);
    const close = queries.filter((unit) => unit >= first && unit < last);
    const totals = special === "out" ? this._totals(keys) : null;
    return this._scaled({ ...seen, ...received(map, one.unit, queries, totals, close) });
  }

  /**
   * A reading with the end of its scale: that of the shown units alone, since special tokens often take so much that
   * nothing else could be seen. What these take has its part in the bar of the whole row.
   * @param {Omit<Reading, "end">} seen
   * @returns {Reading}
   */
  _scaled(seen) {
    return { ...seen, aside: seen.sums ? seen.aside : 0, end: scaleEnd(seen.numbers ?? [1]) };
  }

  /**
   * Whether the mask hides the pair of the selected unit and another one.
   * @param {Reading} seen
   * @param {number} unit
   */
  hides(seen, unit) {
    if (seen.one === null) return false;
    return !(seen.kind === "to" ? this.map.allowed(unit, seen.one.unit) : this.map.allowed(seen.one.unit, unit));
  }

  /**
   * All numbers of the reading as a table; units count from 0.
   * @param {(side: Side) => UnitRange} near
   * @returns {Table}
   */
  table(near) {
    const { place } = this;
    const seen = this.ready ? this.read(near) : null;
    const { asked = null, numbers = null, weights = null } = seen ?? {};
    if (!seen || !asked || !numbers || !weights) {
      const known = numbers ? [...numbers.entries()].filter(([, number]) => number >= 0) : [];
      return {
        name: "received",
        columns: ["layer", "head", "key_index", "key", this.special === "out" ? "share" : "weight"],
        rows: known.map(([at, number]) => [...place, at, named(seen?.units[at].text ?? ""), number]),
      };
    }
    /** @type {(unit: Unit) => Datum[]} */
    const entry = (unit) => [unit.index, named(unit.text)];
    const shown = new Set(this.shown(seen.side));
    const totals = work(this.map) > WHOLE ? null : this._totals([...seen.kept]);
    const own = seen.kind === "from" && summed(weights, seen.kept);
    /** @type {(unit: Unit) => Datum} */
    const share = ({ index }) => {
      const total = own === false ? totals?.of(index) : own;
      if (!shown.has(index) || total === undefined) return "";
      return total > 0 ? weights[index] / total : 0;
    };
    return {
      name: seen.kind === "from" ? "looks-at" : "looked-at-by",
      columns: ["layer", "head", "query_index", "query", "key_index", "key", "weight", "share"],
      rows: seen.units.map((unit) => {
        const pair = seen.kind === "from" ? [asked, unit] : [unit, asked];
        return [...place, ...pair.flatMap(entry), weights[unit.index], share(unit)];
      }),
    };
  }

  /** @param {number[]} keys */
  _totals(keys) {
    const name = keys.join();
    const known = this.totals?.name === name ? this.totals : { name, of: new Totals(this.map, keys) };
    this.totals = known;
    return known.of;
  }
}
