// The types of the live page's tokenizers. They are global: modules name them in JSDoc. This file isn't shipped.

/** A tokenized text. Places are in UTF-16 code units; those of special tokens are -1. */
interface LiveTokens {
  text: string;
  ids: number[];
  /** The tokenizer's spelling of each token. */
  pieces: string[];
  /** Where each token begins and ends in the text, as the tokenizer says: without the marks that it drops. */
  starts: number[];
  ends: number[];
  /** Whether the tokenizer added it, as [CLS]. */
  special: boolean[];
  /** The positions of unknown tokens, which stand for text that the vocabulary lacks. */
  unknown: number[];
  /** The words of the text as typed, [start, end) of each, before tokens that overlap several join them. */
  split: [start: number, end: number][];
  /** The most tokens that the model takes, if these are more. */
  tooLong?: number;
}

/** Why a text can't be run: the key of the page's text that says it, and its values. */
interface TextRefusal {
  key: string;
  values: Values;
}

interface LiveTokenizer {
  /** The model's name, and the most tokens that it takes. */
  name: string;
  positions: number;
  read(text: string): LiveTokens;
  /** The tokens of what a model of letters wrote; `special`, the ids that are no letters. */
  written(ids: number[], special: number[]): LiveTokens;
  refusal(tokens: LiveTokens): TextRefusal | null;
}

/** Runs of characters, `[code points before, code points in it, …]`. */
type CharacterRuns = number[];

/** Characters that are replaced: the code points from one to the next, and the replacements, one a line. */
interface ReplacedCharacters {
  steps: number[];
  texts: string;
}

/** A tokenizer as Python's models/tokenizer_data.py and character_tables.py make it. */
interface TokenizerData {
  kind: "pieces" | "letters";
  name: string;
  positions: number;
  vocabulary: string;
  unknown: number;
  words: { letters: string; lengths: number[] };
}

interface PiecesData extends TokenizerData {
  kind: "pieces";
  prefix: string;
  longest: number;
  before: number[];
  after: number[];
  whole: number[];
  characters: Record<"removed" | "blank" | "apart" | "marks" | "between" | "punctuation", CharacterRuns> & {
    classes: number[];
    decomposed: ReplacedCharacters;
    lower: ReplacedCharacters;
  };
}

/** The sets of characters, each with what is asked of a code point. */
interface CharacterTables {
  is(flag: number, code: number): boolean;
  /** The combining class, 0 for most. */
  classOf(code: number): number;
  decomposed(code: number): number[] | undefined;
  lower(code: number): number[] | undefined;
}

/** A text's code points, and the places of the original's that each stands for: [start, end). */
interface AlignedText {
  codes: number[];
  starts: number[];
  ends: number[];
}
