// What is looked at and how: the page's state, and a few words that restore it exactly.

const DEFAULTS = Object.freeze({
  view: "sentence",
  trace: 0,
  layer: 0, // from 0; words and screen count from 1
  head: "mean", // a number from 0, "mean" or "max"
  unit: "words", // or "pieces"
  special: false, // whether what is set aside is shown
  token: null, // the token that is pinned, from 0
  toward: "from", // "from" it: whom it looks at; "to" it: who looks at it
  threshold: 0, // the share from which links are drawn
  order: "place", // of the overview: "place", "entropy", "distance", "aside"
  scale: "linear", // of the matrix: "linear", "log", "rank"
  clipped: [], // keys whose columns don't count for the matrix's scale
  box: null, // what the matrix shows, [top, left, bottom, right] in units; null for all
  ahead: true, // steps: whether tokens may look ahead
  scaled: true, // steps: whether scores are divided by √d
  removed: [], // steps: tokens taken out
  key: null, // steps: the key whose products are shown, from 0; null for the one with most weight
  coordinate: null, // steps: the coordinate of queries and keys that is read, from 0; null for the largest product
  passed: null, // steps: the coordinate of values that is read, from 0; null for the largest
  other: null, // compare: [trace, layer, head] of the other side
  partner: null, // compare: the token of the other side, from 0; null for the one that matches
  language: null, // "en", "vi"; null for the reader's own
  theme: null, // "light", "dark"; null for the reader's own
});

// How each key is read from words: what of a text is a value, undefined if it is none.
const whole = (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);
const counted = (text) => (whole(text) ? whole(text) - 1 : undefined);
const numbers = (text) => {
  const list = text.split(",").filter(Boolean).map(Number);
  return list.every((value) => Number.isFinite(value)) ? list : undefined;
};
const oneOf = (...values) => (text) => (values.includes(text) ? text : undefined);
const headed = (text) => (["mean", "max"].includes(text) ? text : counted(text));
const yesNo = (text) => ({ yes: true, no: false })[text];
const share = (text) => (Number(text) >= 0 && Number(text) <= 1 ? Number(text) : undefined);

const READ = {
  view: oneOf("sentence", "overview", "matrix", "steps", "compare"),
  trace: counted,
  layer: counted,
  head: headed,
  unit: oneOf("words", "pieces"),
  special: yesNo,
  token: counted,
  toward: oneOf("from", "to"),
  threshold: share,
  order: oneOf("place", "entropy", "distance", "aside"),
  scale: oneOf("linear", "log", "rank"),
  clipped: (text) => numbers(text)?.map((value) => value - 1),
  box: (text) => (numbers(text)?.length === 4 ? numbers(text) : undefined),
  ahead: yesNo,
  scaled: yesNo,
  removed: (text) => numbers(text)?.map((value) => value - 1),
  key: counted,
  coordinate: counted,
  passed: counted,
  partner: counted,
  other: (text) => {
    const [trace, layer, head] = text.split(",");
    const found = [counted(trace ?? ""), counted(layer ?? ""), headed(head ?? "")];
    return found.includes(undefined) ? undefined : found;
  },
  language: oneOf("en", "vi"),
  theme: oneOf("light", "dark"),
};

const COUNTED = ["trace", "layer", "token", "key", "coordinate", "passed", "partner"];

const WRITE = {
  ...Object.fromEntries(COUNTED.map((key) => [key, (value) => value + 1])),
  head: (value) => (typeof value === "number" ? value + 1 : value),
  clipped: (value) => value.map((token) => token + 1).join(","),
  removed: (value) => value.map((token) => token + 1).join(","),
  other: ([trace, layer, head]) => `${trace + 1},${layer + 1},${WRITE.head(head)}`,
  box: (value) => value.map((place) => Number(place.toFixed(2))).join(","),
  ...Object.fromEntries(["special", "ahead", "scaled"].map((key) => [key, (value) => (value ? "yes" : "no")])),
};

/** The whole state that a few settings make. */
export const filled = (given = {}) => ({ ...DEFAULTS, ...given });

/** The words that restore a state: "layer=6 head=mean token=2"; what is as a fresh page has it is left out. */
export const wordsOf = (state, fresh) =>
  Object.keys(DEFAULTS)
    .filter((key) => JSON.stringify(state[key]) !== JSON.stringify(fresh[key]) && key in READ)
    .map((key) => `${key}=${state[key] === null ? "none" : (WRITE[key] ?? String)(state[key])}`)
    .join(" ");

/** The words in a text: also in an address, after its #, whatever else somebody made of it. */
export const wordsIn = (text) => {
  const words = text.trim().split("#").at(-1);
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
};

/** The settings that words name; what isn't one is left out. Words may stand apart by spaces or by "&". */
export const settingsOf = (words) => {
  const found = {};
  for (const word of words.split(/[\s&]+/)) {
    const [key, text] = word.split(/=(.*)/s);
    if (!Object.hasOwn(READ, key) || text === undefined) continue;
    const value = text === "none" && DEFAULTS[key] === null ? null : READ[key](text);
    if (value !== undefined) found[key] = value;
  }
  return found;
};

/** A state whose numbers are all within what the traces have. */
export const within = (state, traces) => {
  const bounded = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const trace = bounded(state.trace, traces.length);
  const { depth, heads, model, queries, keys } = traces[trace];
  const line = state.toward === "from" ? queries : keys;
  const head = (value, count) => (typeof value === "number" ? bounded(value, count) : value);
  const place = (token, count) => (token === null ? null : bounded(token, count));
  let { other, partner } = state;
  if (other) {
    const at = bounded(other[0], traces.length);
    partner = place(partner, traces[at].queries.length);
    other = [at, bounded(other[1], traces[at].depth), head(other[2], traces[at].heads)];
  }
  const [top, left, bottom, right] = state.box ?? [];
  return {
    ...state,
    trace,
    other,
    box: top < bottom && left < right ? state.box : null,
    layer: bounded(state.layer, depth),
    head: head(state.head, heads),
    token: place(state.token, line.length),
    key: place(state.key, keys.length),
    coordinate: place(state.coordinate, model.head_dim),
    passed: place(state.passed, Math.max(model.value_dim, 1)),
    partner,
    clipped: state.clipped.filter((token) => Number.isInteger(token) && token >= 0 && token < keys.length),
    removed: state.removed.filter((token) => Number.isInteger(token) && token >= 0 && token < keys.length),
  };
};
