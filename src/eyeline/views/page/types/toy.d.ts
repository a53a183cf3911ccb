// The types of the toy view.

type ToyMask = "none" | "causal" | "padding";

/** A small attention: words, and the numbers of each. Row i of q, k and v belongs to word i. */
interface Toy {
  words: string[];
  q: number[][];
  k: number[][];
  v: number[][];
  scaled: boolean;
  mask: ToyMask;
  /** The word whose scores the sliders change. */
  row: number;
}

type ToySteps = ReturnType<typeof import("../toy/attention.js").attended>;

/** The parts of a toy's computation, in its order: the given numbers, then the steps. */
type ToyPart = "q" | "k" | "v" | "scores" | "quotients" | "open" | "exponentials" | "sums" | "weights" | "output";

interface ToyCell {
  part: ToyPart;
  row: number;
  column: number;
}
