// "What if": heads with another mask or without scaling: new weights from the same queries and keys.

import { Head } from "./head.js";

const LONGEST = 1024; // tokens of a text whose whole map may be computed anew

/**
 * What the state changes in a trace's attention; null if nothing. The future and padding are those of self-attention: a
 * token is ahead of another, and the last tokens are padding, in one text.
 * @type {(state: State, trace: Trace) => HeadChanges | null}
 */
export const changesOf = (state, trace) => {
  const N = trace.keys.length;
  if (Math.max(N, trace.queries.length) > LONGEST) return null;
  const causal = trace.layers.every((layer) => layer.mask.kind === "causal");
  const whole = trace.layers.every((layer) => layer.scale === 1);
  /** @type {HeadChanges} */
  const changes = {
    ahead: state.ahead || trace.crossing || causal,
    padded: trace.crossing ? 0 : Math.min(state.padded, N),
    scaled: state.scaled || whole,
    removed: state.removed,
  };
  const none = changes.ahead && !changes.padded && changes.scaled && !changes.removed.length;
  return none ? null : changes;
};

/** Whether a trace's attention can be changed: see `changesOf`. @type {(trace: Trace) => boolean} */
export const changeable = (trace) => Math.max(trace.keys.length, trace.queries.length) <= LONGEST;

/** A head whose queries may look at fewer keys, or whose scores aren't scaled. Each row is computed when it is read. */
export class ChangedHead extends Head {
  /**
   * @param {Head} head
   * @param {HeadChanges} changes
   * @param {Uint8Array} seen where queries may look, (N, M), with the changes
   */
  constructor(head, { scaled }, seen) {
    const lse = new Float64Array(head.N).fill(NaN);
    /** @type {HeadMask} */
    const mask = { kind: "bits", values: seen, shape: [head.N, head.M] };
    super({ ...head, lse, mask, scale: scaled ? head.scale : 1 });
    this.sums = lse; // NaN until it is computed
    Object.defineProperty(this, "lse", { get: () => this.sums.map((_, i) => this.base(i)) });
  }

  /** @param {number} i */
  base(i) {
    if (!Number.isNaN(this.sums[i])) return this.sums[i];
    const scores = [];
    for (let j = 0; j < this.M; j++) if (this.allowed(i, j)) scores.push(this.scale * this.score(i, j));
    const top = scores.reduce((most, score) => Math.max(most, score), -Infinity);
    const sum = scores.reduce((total, score) => total + Math.exp(score - top), 0);
    return (this.sums[i] = scores.length ? top + Math.log(sum) : -Infinity);
  }
}

/**
 * Where queries may look with the changes, (N, M).
 * @type {(head: Head, changes: HeadChanges) => Uint8Array}
 */
const seenBy = (head, { ahead, padded, removed }) => {
  const { N, M } = head;
  const [seen, gone] = [new Uint8Array(N * M), new Set(removed)];
  for (let i = 0; i < N; i++) {
    const end = ahead ? M - padded : Math.min(M - padded, i + 1);
    for (let j = 0; j < end; j++) seen[i * M + j] = Number(head.allowed(i, j) && !gone.has(j));
  }
  return seen;
};

/**
 * The changed heads, so that their rows are computed once.
 * @type {WeakMap<Head, { key: string, head: ChangedHead }>}
 */
const kept = new WeakMap();

/**
 * Heads of one layer with changes. Heads whose mask is one word share the changed mask.
 * @type {(heads: Head[], changes: HeadChanges) => ChangedHead[]}
 */
export const changed = (heads, changes) => {
  const key = JSON.stringify(changes);
  /** @type {Map<string, Uint8Array>} */
  const masks = new Map();
  return heads.map((head) => {
    const found = kept.get(head);
    if (found?.key === key) return found.head;
    const { kind, values } = head.mask;
    const shared = values ? undefined : masks.get(kind);
    const seen = shared ?? seenBy(head, changes);
    masks.set(kind, seen);
    const made = new ChangedHead(head, changes, seen);
    kept.set(head, { key, head: made });
    return made;
  });
};
