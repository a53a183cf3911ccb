// What the sentence view asks of a sight: which unit, which way, and what the numbers answer.

import { named } from "../drawing/labels.js";
import { Totals, average, given, received, work } from "./shares.js";

const WORK = 1.5e9; // multiplications, beyond which what all units get is not worked out unasked
const WHOLE = 6e9; // multiplications, beyond which a table has only the shares that are drawn or listed

const same = (one, other) =>
  one.reduce === other.reduce && one.queries === other.queries && one.heads.length === other.heads.length &&
  one.heads.every((head, at) => head === other.heads[at]);

/** What one view asks. `hovered` and `focused` are {side, unit} or null; what is pinned goes before both. */
export class TokenSelection {
  constructor(page) {
    this.page = page;
    [this.attention, this.hovered, this.focused] = [null, null, null];
    this.lists = new WeakMap(); // what counts of each list of units
    this.rest();
  }

  /** The sides of the trace that are drawn: one, or with a cross-attention both. */
  get sides() {
    return this.page.trace.crossing ? ["queries", "keys"] : ["queries"];
  }

  /** The side that is looked at. */
  get across() {
    return this.sides.at(-1);
  }

  units(side) {
    return this.page.trace[side].units(this.page.state.unit);
  }

  /** Whether the numbers are of the text and the units that are drawn: others may be on their way. */
  get ready() {
    return this.attention?.queries === this.units("queries") && this.attention.keys === this.units(this.across);
  }

  /** What is asked about: {side, unit, pinned}, or null. */
  get asked() {
    const { state, trace } = this.page;
    if (state.token === null) return this.hovered ?? this.focused;
    const side = trace.crossing && state.toward === "to" ? "keys" : "queries";
    return { side, unit: trace[side].unitOf(state.token, state.unit).index, pinned: true };
  }

  /** The places of a side's units that count, that which is asked about always among them. */
  shown(side) {
    return this._counted(side).list;
  }

  // The same, also as a set; kept, since a line may be very long.
  _counted(side) {
    const [units, { special }, one] = [this.units(side), this.page.state, this.asked];
    let known = this.lists.get(units);
    if (known?.special !== special) {
      const list = this.page.shown(units);
      this.lists.set(units, (known = { special, list, set: new Set(list) }));
    }
    if (one?.side !== side || known.set.has(one.unit)) return known;
    const list = [...known.list, one.unit].sort((a, b) => a - b);
    return { list, set: new Set(list) };
  }

  /** Look at a sight: that which the state names. */
  take(attention) {
    const { layer, head, special } = this.page.state;
    this.place = [layer + 1, typeof head === "number" ? head + 1 : head]; // as a table has it
    if (this.attention && same(attention, this.attention) && special === this.special) return;
    if (attention.queries !== this.attention?.queries) [this.hovered, this.focused] = [null, null];
    [this.attention, this.special] = [attention, special];
    this.rest();
  }

  /** Work out what all get, if that is no great work and not on its way; calls `done` when it is known. */
  async average(done) {
    if (this.averaging || work(this.attention) > WORK) return;
    const now = {};
    this.averaging = now;
    const [queries, keys] = ["queries", this.across].map((side) => this.page.shown(this.units(side)));
    const found = await average(this.attention, queries, keys, () => this.averaging === now);
    if (!found || this.averaging !== now) return;
    this.averages = found;
    done();
  }

  /** Give up what is being worked out. */
  rest() {
    [this.averages, this.averaging, this.totals] = [null, null, null];
  }

  /**
   * What there is to see: `kind` is "from", "to" or "none"; `units`, of `side`, are those that are looked at or look,
   * with their `weights` and `shares`; `asked` is the unit that it is about and `one` where that stands, among `ones`;
   * `own` is its place among `units`, null if it is none of them; `kept` are the keys that count, `aside` what goes to
   * the others; `whole` says whether nothing is left to be worked out.
   * @param near says which of a side's units are drawn, [first, last)
   */
  looks(near) {
    const one = this.asked;
    const { crossing } = this.page.trace;
    const back = one !== null && (crossing ? one.side === "keys" : this.page.state.toward === "to");
    const side = back ? "queries" : this.across;
    const { list: keys, set: kept } = this._counted(this.across);
    const seen = {
      kind: one === null ? "none" : back ? "to" : "from",
      one, side,
      units: this.units(side),
      ones: one && this.units(one.side),
      asked: one && this.units(one.side)[one.unit],
      own: one && !crossing ? one.unit : null,
      kept,
      shares: null, weights: null, aside: 0, whole: true,
    };
    if (one === null) return { ...seen, shares: this.averages };
    if (!back) return { ...seen, ...given(this.attention, one.unit, keys) };
    const [first, last] = near(side);
    const queries = this.shown(side);
    const close = queries.filter((unit) => unit >= first && unit < last);
    return { ...seen, ...received(this.attention, one.unit, queries, this._totals(keys), close) };
  }

  /** Whether what is asked about may not look at a unit, or be looked at by it. */
  hides(seen, unit) {
    if (seen.one === null) return false;
    return !(seen.kind === "to" ? this.attention.allowed(unit, seen.one.unit) : this.attention.allowed(seen.one.unit, unit));
  }

  /** All the numbers of what is seen, as a table. */
  table(near) {
    const { place } = this;
    const seen = this.ready ? this.looks(near) : null;
    if (!seen?.one) {
      const known = seen?.shares ? [...seen.shares.entries()].filter(([, share]) => share >= 0) : [];
      return {
        name: "received",
        columns: ["layer", "head", "key_index", "key", "share"],
        rows: known.map(([at, share]) => [...place, at, named(seen.units[at].text), share]),
      };
    }
    const entry = (unit) => [unit.index, named(unit.text)];
    const shown = new Set(this.shown(seen.side));
    const some = seen.kind === "from" || work(this.attention) > WHOLE;
    const share = ({ index }) => {
      if (!shown.has(index)) return "";
      if (some) return Number.isNaN(seen.shares[index]) ? "" : seen.shares[index];
      const total = this._totals([...seen.kept]).of(index);
      return total > 0 ? seen.weights[index] / total : 0;
    };
    return {
      name: seen.kind === "from" ? "looks-at" : "looked-at-by",
      columns: ["layer", "head", "query_index", "query", "key_index", "key", "weight", "share"],
      rows: seen.units.map((unit) => {
        const pair = seen.kind === "from" ? [seen.asked, unit] : [unit, seen.asked];
        return [...place, ...pair.flatMap(entry), seen.weights[unit.index], share(unit)];
      }),
    };
  }

  _totals(keys) {
    const name = keys.join();
    if (this.totals?.name !== name) this.totals = { name, of: new Totals(this.attention, keys) };
    return this.totals.of;
  }
}
