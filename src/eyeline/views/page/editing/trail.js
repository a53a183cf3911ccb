// The lists of edits that were there, for undo and redo: also after the browser's Back and Forward.

import { sameEdits } from "../weights/traces.js";

export class Trail {
  constructor() {
    /** @type {string[][]} */
    this.lists = [[]];
    this.at = 0;
  }

  /** Note the list that is there now. @param {string[]} edits */
  note(edits) {
    for (const at of [this.at, this.at - 1, this.at + 1]) {
      if (this.lists[at] && sameEdits(this.lists[at], edits)) {
        this.at = at;
        return;
      }
    }
    this.lists = [...this.lists.slice(0, this.at + 1), edits];
    this.at += 1;
  }

  /** The list before, or after; undefined if there is none. @param {1 | -1} step */
  beside(step) {
    return this.lists[this.at + step];
  }
}
