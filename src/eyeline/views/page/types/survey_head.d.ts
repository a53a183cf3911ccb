// The types of a head's page in a survey. docs/page-format.md describes the replies.

type SortName = "largest" | "sample";

/** An example of a head's looks, as the host has it: some tokens of a window, with the query's weights on its strongest keys. */
interface LookExample {
  sort: SortName;
  rank: number;
  weight: number;
  document: number;
  file: string;
  place: number;
  window: number;
  query: number;
  key: number;
  tokens: string[];
  positions: number[];
  weights: number[];
  special: boolean[];
}

/** A drawn token by its place in an example; or a gap, "…", where text is left out. */
type LookPart = { at: number } | { gap: true };

type ExamplePages = import("../survey/head/example_pages.js").ExamplePages;

/** Means by type of the looking token and range of positions, as columns. */
interface LookingTokens {
  type: string[];
  position: number[];
  count: number[];
  entropy: (number | null)[];
  distance: (number | null)[];
  received: (number | null)[];
  to: (number | null)[][];
}

/** One range of a distribution: `label` is written below its bar, `name` says the range; `other` is another survey's share. */
interface RangeBar {
  share: number;
  label: string;
  name: string;
  other?: number;
}

/** What a host that opens documents can do, and is asked for; see `HostModel`. */
interface DocumentOpener {
  /** Record an example's window; gives the address of the page that shows it, null if it was cancelled. */
  open?(request: { other: number; layer: number; head: number; sort: SortName; rank: number }, told: (report: RunReport) => void): Promise<string | null>;
  cancel?(): Promise<void>;
}
