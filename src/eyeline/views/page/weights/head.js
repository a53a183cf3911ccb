// One head: weights = exp(scale · q·k − lse) where a query may look, computed on demand.


/** A head's q (N, D), k (M, D), v (M, E) or null, lse (N), its mask: where its queries may look, and what each weight is multiplied by, if anything. */
export class Head {
  /**
   * A mask of kind "bounds" has values and their shape, [N or 1, K, 2]; one of kind "bits" has values.
   * @param {HeadArrays} arrays
   */
  constructor({ q, k, v, lse, N, M, D, E, scale, mask, factors }) {
    this.q = q;
    this.k = k;
    this.v = v;
    this.lse = lse;
    this.N = N;
    this.M = M;
    this.D = D;
    this.E = E;
    this.scale = scale;
    this.mask = mask;
    this.factors = factors;
    this.bytes = 4 * (q.length + k.length + (v ? v.length : 0) + lse.length) + (mask.values?.byteLength ?? 0);
  }

  /**
   * Whether query i may look at key j.
   * @param {number} i
   * @param {number} j
   */
  allowed(i, j) {
    const { kind, values, shape } = this.mask;
    if (kind === "all") return true;
    if (kind === "causal") return j <= i;
    if (!values || !shape) return false;
    if (kind === "bits") return values[i * this.M + j] === 1;
    const [rows, count] = shape;
    for (let at = (rows === 1 ? 0 : i) * count * 2, end = at + count * 2; at < end; at += 2) {
      if (values[at] <= j && j < values[at + 1]) return true;
    }
    return false;
  }

  /**
   * q·k of query i and key j.
   * @param {number} i
   * @param {number} j
   */
  score(i, j) {
    const { q, k, D } = this;
    let [a, b, sum] = [i * D, j * D, 0];
    for (const end = a + D; a < end; a++, b++) sum += q[a] * k[b];
    return sum;
  }

  /** The log of the softmax denominator of query i. @param {number} i */
  base(i) {
    return this.lse[i];
  }

  /**
   * The weight that query i gives to key j.
   * @param {number} i
   * @param {number} j
   */
  weight(i, j) {
    const base = this.base(i);
    const factor = this.factors ? this.factors[i * this.M + j] : 1;
    return base === -Infinity || !this.allowed(i, j) ? 0 : factor * Math.exp(this.scale * this.score(i, j) - base);
  }

  /**
   * The weights of query i on the keys [first, last), times `share`, added to `into`.
   * @param {number} i
   * @param {number} first
   * @param {number} last
   * @param {Float64Array} into
   * @param {number} share
   */
  row(i, first = 0, last = this.M, into = new Float64Array(last - first), share = 1) {
    const { q, k, D, scale, mask, factors } = this;
    const base = this.base(i);
    if (base === -Infinity) return into;
    const end = mask.kind === "causal" ? Math.min(last, i + 1) : last;
    const asked = mask.kind === "bounds" || mask.kind === "bits";
    for (let j = first; j < end; j++) {
      if (asked && !this.allowed(i, j)) continue;
      let [a, b, even, odd] = [i * D, j * D, 0, 0];
      for (const stop = a + D - 1; a < stop; a += 2, b += 2) {
        even += q[a] * k[b];
        odd += q[a + 1] * k[b + 1];
      }
      if (D % 2) even += q[a] * k[b];
      into[j - first] += share * (factors ? factors[i * this.M + j] : 1) * Math.exp(scale * (even + odd) - base);
    }
    return into;
  }
}
