// One survey of the header: its heads' measures and kinds.

import { printable } from "../drawing/labels.js";

const LONGEST = 60; // characters of a name

/** A name in one line, at most so long. @type {(text: string) => string} */
const brief = (text) => {
  const shown = printable(text);
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
};

/** Names in the page's words have no spaces or signs of an address. @type {(type: string) => string} */
export const wordOf = (type) => type.replace(/[\s&#%+]+/g, "_");

/** The measures of a survey's heads. */
export class MeasuredHeads {
  /** @param {SurveyEntry} entry */
  constructor(entry) {
    this.entry = entry;
    this.name = brief(entry.name);
    this.model = { ...entry.model, name: brief(entry.model.name) };
    this.depth = entry.model.layers;
    this.heads = entry.model.heads;
    this.count = this.depth * this.heads;
    this.scales = entry.scales;
    this.types = entry.scales.types;
    /** The kind that each head counts for: its first, the most telling; "mixed" where none applies. @type {KindName[]} */
    this.kind = entry.kinds.map(([first]) => first);
    /** @type {Map<MeasureName, (number | null)[]>} */
    this.tables = new Map(Object.entries(entry.measures));
    for (const side of /** @type {const} */ (["to", "received"])) {
      for (const [type, values] of Object.entries(entry[side])) this.tables.set(`${side}.${wordOf(type)}`, values);
    }
    // What no head has is no choice: a corpus without punctuation, an encoder's induction.
    this.measures = [...this.tables].filter(([, values]) => values.some((one) => one !== null)).map(([name]) => name);
  }

  /** A measure of all heads, NaN where there was nothing to measure. @param {MeasureName} measure */
  all(measure) {
    const values = this.tables.get(measure);
    return Float64Array.from({ length: this.count }, (_, at) => values?.[at] ?? NaN);
  }

  /**
   * A measure of a head.
   * @param {MeasureName} measure
   * @param {number} layer
   * @param {number} head
   */
  value(measure, layer, head) {
    return this.tables.get(measure)?.[layer * this.heads + head] ?? NaN;
  }

  /**
   * A head's kinds, the most telling first; "mixed" where none applies.
   * @param {number} layer
   * @param {number} head
   */
  kindsOf(layer, head) {
    return this.entry.kinds[layer * this.heads + head] ?? [];
  }

  /** The measure that decides a kind. @param {KindName} kind @returns {MeasureName | null} */
  decides(kind) {
    return this.entry.labels.find(({ key }) => key === kind)?.measure ?? null;
  }

  /** Whether both are of the same layers and heads. @param {MeasuredHeads} other */
  fits(other) {
    return this.depth === other.depth && this.heads === other.heads;
  }

  /** The type of token of a "to.TYPE" or "received.TYPE", as the survey spells it. @param {MeasureName} measure */
  typeOf(measure) {
    const word = measure.slice(measure.indexOf(".") + 1);
    return this.types.find((type) => wordOf(type) === word) ?? word;
  }
}
