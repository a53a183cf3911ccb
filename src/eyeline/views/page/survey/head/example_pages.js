// A head's examples, asked for a page at a time as they come into sight.

const PAGE = 64; // examples in a request
const KEPT = 64; // pages kept: the ones that were asked for last

/** The examples of one head of a survey. */
export class ExamplePages {
  /**
   * @param {SurveyPage} page
   * @param {{ other: number, layer: number, head: number }} place the survey's number, layer and head
   * @param {() => void} arrived called when examples have come, or can't
   */
  constructor(page, place, arrived) {
    this.page = page;
    this.place = place;
    this.arrived = arrived;
    /** @type {Record<SortName, number>} */
    this.totals = { largest: 0, sample: 0 };
    /** @type {Map<string, Map<number, LookExample> | null>} Examples by rank; null while they are asked for. */
    this.pages = new Map();
    /** @type {unknown} Why the last ones couldn't be had. */
    this.failed = null;
  }

  /** An example; null while it is asked for, undefined if the host lacks it. @param {SortName} sort @param {number} rank */
  get(sort, rank) {
    const found = this.pages.get(this._name(sort, rank));
    return found ? found.get(rank) : null;
  }

  /** Ask for the examples [first, last) that aren't there. @param {SortName} sort @param {number} first @param {number} last */
  need(sort, first, last) {
    for (let at = Math.floor(first / PAGE) * PAGE; at < last; at += PAGE) {
      const name = this._name(sort, at);
      const known = this.pages.get(name);
      if (known === undefined) this._ask(sort, at, name);
      else {
        this.pages.delete(name);
        this.pages.set(name, known);
      }
    }
  }

  /** All examples of a sort, at most `most`, from the first on. @param {SortName} sort @param {number} most @returns {Promise<LookExample[]>} */
  async all(sort, most) {
    /** @type {LookExample[]} */
    const found = [];
    for (;;) {
      const some = await this._asked(sort, found.length, 256);
      const own = some.filter(({ rank }) => rank >= found.length);
      found.push(...own);
      if (!own.length || found.length >= Math.min(this.totals[sort], most)) return found.slice(0, most);
    }
  }

  /** @param {SortName} sort @param {number} rank */
  _name(sort, rank) {
    return `${sort} ${Math.floor(rank / PAGE)}`;
  }

  /** @param {SortName} sort @param {number} first @param {number} count @returns {Promise<LookExample[]>} */
  async _asked(sort, first, count) {
    const request = /** @type {HostRequest} */ (/** @type {unknown} */ ({ kind: "examples", ...this.place, sort, first, count }));
    const { reply } = await this.page.host.ask(request);
    const { totals, examples } = /** @type {{ totals: Record<SortName, number>, examples: LookExample[] }} */ (/** @type {unknown} */ (reply));
    this.totals = totals;
    return examples.filter((one) => one.sort === sort); // a file answers with all that it holds
  }

  /** @param {SortName} sort @param {number} first @param {string} name */
  async _ask(sort, first, name) {
    this.pages.set(name, null);
    try {
      const found = await this._asked(sort, first, PAGE);
      this.pages.set(name, new Map(found.map((one) => [one.rank, one])));
      this.failed = null;
    } catch (error) {
      this.pages.delete(name);
      this.failed = error;
    }
    for (const oldest of this.pages.keys()) if (this.pages.size > KEPT) this.pages.delete(oldest);
    this.arrived();
  }
}
