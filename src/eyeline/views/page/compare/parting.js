// How two words' vectors part from layer to layer: their cosines, and the words of the vocabulary nearest to each.

/** The smallest cosine at which a word of the vocabulary is called near: chance reaches about 0.2. */
export const NEAR = 0.25;

/** Whether the vectors of two traces' tokens lie in one space. @type {(one: Trace, other: Trace) => boolean} */
const comparable = (one, other) =>
  one.vectors && other.vectors && one.model.name === other.model.name && one.kind === other.kind
  && one.depth === other.depth;

/**
 * The inner products of the mean vectors of two units, each of a trace, before the first layer and after each.
 * @type {(page: Page, sides: [ComparedSide, ComparedSide]) => Promise<number[]>}
 */
const productsOf = async (page, sides) => {
  const [one, other] = [...sides].sort((a, b) => a.trace.index - b.trace.index);
  const { shape: [layers, N, M], values } = await page.host.products(one.trace, other.trace);
  const pairs = (one.unit.last - one.unit.first) * (other.unit.last - other.unit.first);
  return Array.from({ length: layers }, (_, layer) => {
    let sum = 0;
    for (let i = one.unit.first; i < one.unit.last; i++) {
      for (let j = other.unit.first; j < other.unit.last; j++) sum += values[(layer * N + i) * M + j];
    }
    return sum / pairs;
  });
};

/**
 * The cosines of the two compared words' vectors; null if the traces don't have them, or not in one space.
 * @type {(page: Page, sides: [ComparedSide, ComparedSide]) => Promise<Parting | null>}
 */
export const partingOf = async (page, [first, second]) => {
  if (!comparable(first.trace, second.trace)) return null;
  const [own, others, both] = await Promise.all([
    productsOf(page, [first, first]), productsOf(page, [second, second]), productsOf(page, [first, second]),
  ]);
  const cosines = both.map((product, at) => {
    const lengths = Math.sqrt(own[at] * others[at]);
    return lengths > 0 ? Math.min(Math.max(product / lengths, -1), 1) : 0;
  });
  return { cosines, itself: first.trace === second.trace && first.unit.first === second.unit.first };
};

/** A cosine in hundredths, with a true minus sign. @type {(cosine: number) => string} */
export const hundredths = (cosine) => cosine.toFixed(2).replace("-", "−");

/** The angle of a cosine in degrees. @type {(cosine: number) => number} */
export const angleOf = (cosine) => (180 / Math.PI) * Math.acos(cosine);

/**
 * Where two vectors part most: the layer from whose input to whose output their cosine falls most; null if it falls
 * nowhere by a hundredth.
 * @type {(parting: Parting) => { layer: number, from: number, to: number } | null}
 */
export const furthestFall = ({ cosines }) => {
  let best = null;
  for (let at = 1; at < cosines.length; at++) {
    const [from, to] = [cosines[at - 1], cosines[at]];
    if (from - to >= (best ? best.from - best.to : 0.01)) best = { layer: at - 1, from, to };
  }
  return best;
};

/**
 * The nearest words of both sides; null where the host can't say them.
 * @type {(page: Page, sides: [ComparedSide, ComparedSide]) => Promise<[NearWords[], NearWords[]] | null>}
 */
export const nearestOf = async (page, [first, second]) => {
  try {
    return await Promise.all([
      page.host.nearest(first.trace, first.unit), page.host.nearest(second.trace, second.unit),
    ]);
  } catch {
    return null;
  }
};

/** The words that are near enough to be named. @type {(words: NearWords) => NearWords} */
export const namedWords = (words) => words.filter(([, cosine]) => cosine >= NEAR);
