// The types of a page in which texts are run while they are typed.

type Typing = import("../typing/typing.js").Typing;
type TypedRuns = import("../typing/runs.js").TypedRuns;

/** A run of a typed text: its traces are `count` from number `first` on, of which `trace` is shown. */
interface TypedRun {
  text: string;
  model: string;
  trace: number;
  first: number;
  count: number;
  /** Whether it took the place of a draft. */
  follows: boolean;
}

/** The prompt; `open` runs a text that wasn't typed. The list of models lies in its place, or in a phone's drawer. */
interface LivePrompt extends PagePart {
  models: HTMLElement;
  place: HTMLElement;
  open(text: string, model: string): Promise<TypedRun | null>;
  fail(error: unknown): void;
}

/** The field of a comparison's second sentence, which is told what the two sides show. */
interface SecondSentence {
  element: HTMLElement;
  update(other: Trace, first: Trace): void;
}

/** The part of the lesson that takes the reader's own sentences, at a stop. */
interface OwnSentences {
  element: HTMLElement;
  update(stop: string): void;
}
