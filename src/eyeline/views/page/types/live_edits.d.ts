// The types of edits in words, as the page's runs are made with them. They are global: modules name them in JSDoc. This
// file isn't shipped.

/** What an edit chooses: everything; the numbers from the first up to the last, or to the end; or some, also words. */
type Chosen = null | { first: number; last: number | null } | (number | string)[];

type EditName = "cut" | "reweight" | "uniform" | "gate";

/** An edit that was read; its tokens may still be words. */
interface LiveEdit {
  name: EditName;
  kind: AttentionKind | null;
  layers: Chosen;
  heads: Chosen;
  queries: Chosen;
  keys: Chosen;
  /** One factor, or one for each of the queries' positions. */
  by: number | number[];
}

/** What a model has: the number of its layers by their kind, and of their heads. */
interface EditSites {
  layers: Partial<Record<AttentionKind, number>>;
  heads: number;
}
