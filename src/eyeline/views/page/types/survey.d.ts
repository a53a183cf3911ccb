// The types of a survey's page.

/** A measure of a head: one of its own, or "to.TYPE" and "received.TYPE", what it gives to a type of token, and what one receives. */
type MeasureName = string;
type SurveyViewName = "map" | "head";
type MapOrder = "place" | "layer" | "all";

/** A survey's page as it is seen; heads are of one survey, the chosen one. */
interface SurveyState {
  view: SurveyViewName;
  survey: number;
  layer: number;
  head: number;
  measure: MeasureName;
  order: MapOrder;
  kind: KindName | null;
  sides: "both" | "difference";
  sort: "largest" | "sample";
  example: number;
  language: Language | null;
  theme: Theme | null;
}

/** One survey in the header. Heads are flat: layer · heads + head. Null: there was nothing to measure. */
interface SurveyEntry {
  name: string;
  model: { name: string; layers: number; heads: number; causal: boolean; sha256?: unknown };
  corpus: {
    files: { path: string; documents: number | null }[];
    file_count: number; column: string | null; documents: number; characters: number;
  };
  settings: Record<string, unknown> & { window: number; overlap: number };
  counts: { documents: number; tokens: number; text_tokens: number; windows: number };
  skipped: { counts: Record<string, number> };
  labels: { key: KindName; measure: string; above: number; source: string }[];
  scales: { offsets: number[]; entropies: number[]; largest: number[]; positions: number[]; types: string[] };
  induction: { length: number; draws: number } | null;
  version: string;
  complete: boolean;
  /** The tables that can be asked for: a copy of a survey may lack them. */
  holds: ("tokens" | "examples")[];
  kinds: KindName[][];
  measures: Record<string, (number | null)[]>;
  spread: Record<string, (number | null)[]>;
  to: Record<string, (number | null)[]>;
  received: Record<string, (number | null)[]>;
  offsets: number[][];
  entropies: number[][];
  largest: number[][];
  /** Of a file: how many heads' examples it holds, and of how many; null where the host has all. */
  examples: { kept: number; of: number } | null;
}

interface SurveyHeader {
  schema: string;
  version: string;
  title: string;
  state: Partial<SurveyState>;
  surveys: SurveyEntry[];
}

/** A request about a survey, whose number is `other`; and one head of it. */
interface SurveyRequest {
  kind: "examples" | "tokens" | "documents";
  other: number;
  layer?: number;
  head?: number;
  sort?: string;
  first?: number;
  count?: number;
}

interface SurveyView {
  element: HTMLElement;
  /** Its own controls, for the frame's bar. */
  controls?: HTMLElement;
  /** One sentence that says what one sees, for the title line. */
  sentence(): string;
  update(): void | Promise<void>;
  numbers(): Table;
  picture(): string;
  destroy?(): void;
}

/** A map's cells. `heads` are those in the order of drawing, flat; `rows` whether rows are layers, `columns` whether columns are heads. */
interface MapLayout {
  heads: number[];
  across: number;
  down: number;
  rows: boolean;
  columns: boolean;
  left: number;
  top: number;
  width: number;
  height: number;
  gap: number;
  /** Pixels at the end of each row. */
  side: number;
  whole: [width: number, height: number];
}

interface MapLook {
  size: number;
  fill: string;
  anchor?: "start" | "middle" | "end";
  bold?: boolean;
  faded?: boolean;
}

/** What a map is drawn with; all in pixels. `lines` draws a sign of 16 × 16 at a place, in a size. */
interface MapPen {
  box(x: number, y: number, width: number, height: number, fill: string, faded?: boolean): void;
  frame(x: number, y: number, width: number, height: number, colour: string): void;
  lines(d: string, x: number, y: number, size: number, colour: string, faded?: boolean): void;
  text(text: string, x: number, y: number, look: MapLook): void;
}

interface MapPaint {
  dark: boolean;
  colour(name: string): string;
}

/** What is drawn of a map: a number for each head, on a scale from zero to `end`, or from −end if `signed`. */
interface MapShown {
  measure: MeasureName;
  values: Float64Array;
  end: number;
  signed: boolean;
  /** The kind that each head counts for; of a difference, in both surveys. */
  kinds: KindName[][];
  /** The kind that doesn't fade; null for all. */
  kind: KindName | null;
  heads: number;
  /** The short name of a kind. */
  named(kind: KindName): string;
  /** What each layer has altogether: bars, as parts of their room, and texts. */
  sums: { title: string; parts: number[]; texts: string[] };
}

/** What a board shows; `texts` are the lines of a head, the first in bold; `start` is where its cursor begins. */
interface MapContent extends MapShown {
  title: string;
  order: MapOrder;
  start: number;
  texts(at: number): string[];
}

type SurveyPage = import("../survey/page.js").SurveyPage;
type MeasuredHeads = import("../survey/measured.js").MeasuredHeads;
