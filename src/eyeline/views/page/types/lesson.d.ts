// The types of the lesson.

/** The traces of the lesson, by their indices in the page. */
interface LessonTraces {
  flies: number;
  fruit: number;
  encoder: number;
  decoder: number;
  cross: number;
}

/** The right answer to a question, from the numbers on screen. */
type RightAnswer =
  | { kind: "number"; value: number; within: number; /** Another way to write it. */ or?: number }
  | { kind: "word"; words: Unit[]; right: Unit }
  | { kind: "choice"; right: string }
  | { kind: "open"; right: boolean };

interface Stop {
  name: string;
  /** Settings that open the view that the stop speaks of. */
  state(traces: LessonTraces, page: Page): Partial<State>;
  /** The keys of a choice's answers. */
  choices?: string[];
  /** The right answer now; null while there is nothing to ask about. */
  answer(page: Page): Promise<RightAnswer | null> | RightAnswer | null;
}
