// Tiles where WebAssembly is forbidden, of the weights that the host gave with each head.

import { Dots, finished } from "./dots.js";

/** Rectangles of weights that are there already. @type {Weigher} */
const given = {
  weights: (head, [top, bottom], [left, right]) => {
    const found = new Float32Array((bottom - top) * (right - left));
    for (let query = top; query < bottom; query++) {
      found.set(/** @type {Head} */ (head).row(query, left, right), (query - top) * (right - left));
    }
    return found;
  },
};

/** What stands in for the worker's tiles of a table. */
export class HostWeights {
  /** @param {Omit<DotTable, "heads">} table @param {Head[]} heads */
  constructor(table, heads) {
    this.dots = new Dots(given, { ...table, heads });
  }

  /** @param {Sides} sides @param {number} level */
  async means(sides, level) {
    return finished(this.dots.means(sides, level));
  }

  /** @param {TokenRange[]} places */
  async received(places) {
    return finished(this.dots.received(places));
  }

  /** @param {number} top @param {number} bottom */
  async aside(top, bottom) {
    return finished(this.dots.aside(top, bottom));
  }
}
