// Traces: tokenized texts with their words and pieces, layers and heads.

/** A tokenized text. A unit has one label: it is a word, a piece of a word, or a special token. */
export class TokenizedText {
  /** @param {LineEntry} entry */
  constructor(entry) {
    this.text = entry.text;
    this.prompt = entry.prompt ?? null;
    this.length = entry.ids.length;
    this.ids = entry.ids;
    this.entry = entry;
    /** @type {{ tokens?: Token[], pieces?: Unit[] }} What is made when it is first asked for: a long text has many. */
    this.made = {};
    const unknown = (entry.unknown ?? []).map((index) => this.tokens[index]);
    /** The texts that the vocabulary lacks, each once, and the unknown token in their place. */
    this.unknown = { piece: unknown[0]?.piece ?? "", texts: [...new Set(unknown.map((token) => token.text.trim()))] };
    const aside = new Set(entry.aside);
    /** @type {Unit[]} */
    this.words = entry.words.map(([first, last, start, end], index) => ({
      index, first, last, start, end,
      text: start < 0 ? entry.pieces[first] : entry.text.slice(start, end),
      special: start < 0,
      aside: aside.has(index),
      before: false,
      after: false,
    }));
    this.wordOf = new Int32Array(this.length);
    for (const word of this.words) this.wordOf.fill(word.index, word.first, word.last);
  }

  /** @returns {Token[]} */
  get tokens() {
    const { ids, starts, ends, pieces, text } = this.entry;
    return (this.made.tokens ??= ids.map((id, index) => {
      const [start, end, piece] = [starts[index], ends[index], pieces[index]];
      const special = start < 0;
      return { index, id, piece, special, start, end, text: special ? piece : text.slice(start, end) };
    }));
  }

  /** @returns {Unit[]} */
  get pieces() {
    return (this.made.pieces ??= this.words.flatMap((word) =>
      this.tokens.slice(word.first, word.last).map((token) => ({
        index: token.index, first: token.index, last: token.index + 1, start: token.start, end: token.end,
        text: token.text,
        special: word.special,
        aside: word.aside,
        before: token.index > word.first,
        after: token.index + 1 < word.last,
      })),
    ));
  }

  /** The units of a kind, "words" or "pieces", in reading order. @param {UnitKind} kind */
  units(kind) {
    return kind === "words" ? this.words : this.pieces;
  }

  /**
   * The unit of a kind that contains a token.
   * @param {number} token
   * @param {UnitKind} kind
   */
  unitOf(token, kind) {
    return kind === "words" ? this.words[this.wordOf[token]] : this.pieces[token];
  }
}

let made = 0; // how many traces there were

/** One stack of attention layers: of a model's run, or of one part of an encoder-decoder's run. */
export class Trace {
  /**
   * @param {TraceEntry} entry
   * @param {number} index
   */
  constructor(entry, index) {
    this.index = index;
    /** Its own number: a draft that is typed on gets the index of the one before. */
    this.serial = made++;
    this.name = entry.name;
    this.kind = entry.kind;
    this.model = entry.model;
    this.layers = entry.layers;
    this.values = entry.values;
    this.entropy = entry.entropy;
    this.distance = entry.distance;
    this.aside = entry.aside;
    this.picture = entry.picture;
    this.pyramid = entry.pyramid ?? null;
    this.projections = entry.projections;
    this.vectors = entry.vectors;
    this.positions = entry.positions ?? null;
    this.edits = entry.edits ?? [];
    this.image = entry.image ?? null;
    this.kinds = entry.kinds;
    this.queries = new TokenizedText(entry.queries);
    this.keys = entry.keys ? new TokenizedText(entry.keys) : this.queries;
    this.crossing = entry.keys !== null;
    this.depth = entry.layers.length;
    this.heads = entry.model.heads;
  }
}

/** Whether two lists of edits are the same. @type {(some: string[], others: string[]) => boolean} */
export const sameEdits = (some, others) => some.join(";") === others.join(";");

/** The run of a trace's text as trained: itself, or the one that edits were made to; undefined if it isn't there. @type {(traces: Trace[], trace: Trace) => Trace | undefined} */
export const asTrained = (traces, trace) =>
  trace.edits.length
    ? traces.find((one) =>
      !one.edits.length && one.name === "as trained" && one.kind === trace.kind &&
      one.model.name === trace.model.name && String(one.queries.ids) === String(trace.queries.ids))
    : trace;

/** The run of a text with edits. @type {(traces: Trace[], base: Trace, edits: string[]) => Trace | undefined} */
export const editedRun = (traces, base, edits) =>
  traces.find((one) => one.edits.length && sameEdits(one.edits, edits) && asTrained(traces, one) === base);
