// "What if": heads with another mask or without scaling: new weights from the same queries and keys.

import { HostError } from "../host_error.js";
import { Head } from "./head.js";

const LONGEST = 1024; // tokens of a text whose whole map may be computed anew

/**
 * What the state changes in a trace's attention; null if nothing. The future and padding are those of self-attention: a
 * token is ahead of another, and the last tokens are padding, in one text.
 * @type {(state: State, trace: Trace) => HeadChanges | null}
 */
export const changesOf = (state, trace) => {
  if (!changeable(trace)) return null;
  const causal = trace.layers.every((layer) => layer.mask.kind === "causal");
  const whole = trace.layers.every((layer) => layer.scale === 1);
  /** @type {HeadChanges} */
  const changes = {
    ahead: state.ahead || trace.crossing || causal,
    padded: trace.crossing ? 0 : Math.min(state.padded, trace.keys.length),
    scaled: state.scaled || whole,
    removed: state.removed,
  };
  const none = changes.ahead && !changes.padded && changes.scaled && !changes.removed.length;
  return none ? null : changes;
};

/** Whether a trace's attention can be changed: see `changesOf`. @type {(trace: Trace) => boolean} */
export const changeable = (trace) => Math.max(trace.keys.length, trace.queries.length) <= LONGEST;

/** A head whose queries may look at fewer keys, or whose scores aren't scaled: normalised anew once it is read. */
export class ChangedHead extends Head {
  /**
   * @param {Head} head
   * @param {HeadChanges} changes
   * @param {Uint8Array} seen where queries may look, (N, M), with the changes
   */
  constructor(head, { scaled }, seen) {
    const { N, M, D, E, scale, factors, lse, stored, kernel } = head;
    /** @type {HeadMask} */
    const mask = { kind: "bits", values: seen, shape: [N, M] };
    super({ ...stored, N, M, D, E, lse, mask, factors, scale: scaled ? scale : 1 }, kernel);
    /** @type {Float32Array | null} */
    this.own = null;
  }

  get lse() {
    const { N, M, D, scale, mask, stored: { q, k } } = this;
    return (this.own ??= this.kernel?.attend({ H: 1, G: 1, N, M, D, E: 0, q, k, scale, mask }).lse ?? this._lse);
  }
}

/**
 * Where query i may look with the changes, 1 or 0 for each key. (M)
 * @type {(head: Head, i: number, changes: HeadChanges) => Uint8Array}
 */
export const seenBy = (head, i, { ahead, padded, removed }) => {
  const seen = new Uint8Array(head.M);
  const end = Math.min(head.M - padded, ahead ? head.M : i + 1);
  for (let j = 0; j < end; j++) seen[j] = Number(head.allowed(i, j));
  for (const j of removed) seen[j] = 0;
  return seen;
};

/** The same for all queries. (N, M) @type {(head: Head, changes: HeadChanges) => Uint8Array} */
const allSeen = (head, changes) => {
  const seen = new Uint8Array(head.N * head.M);
  for (let i = 0; i < head.N; i++) seen.set(seenBy(head, i, changes), i * head.M);
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
  if (!heads.every(({ kernel }) => kernel)) throw new HostError({ argument: "webassembly", message: "no kernel" });
  const key = JSON.stringify(changes);
  /** @type {Map<string, Uint8Array>} */
  const masks = new Map();
  return heads.map((head) => {
    const found = kept.get(head);
    if (found?.key === key) return found.head;
    const { kind, values } = head.mask;
    const shared = values ? undefined : masks.get(kind);
    const seen = shared ?? allSeen(head, changes);
    masks.set(kind, seen);
    const made = new ChangedHead(head, changes, seen);
    kept.set(head, { key, head: made });
    return made;
  });
};
