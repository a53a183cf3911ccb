// The request "edited": a text's run with edits, one more trace of the page; as Python's requests/edited.py.

import { whole } from "../answers/refusal.js";
import { PARTS, runText } from "../text_runs.js";
import { check, editsOf } from "./checking.js";
import { found } from "./finding.js";
import { lowered } from "./lowering.js";
import { refused } from "./refusing.js";
import { wordsOf } from "./written.js";

/** The place of a part among the traces of a run. @type {(entry: TraceEntry, several: boolean) => number} */
const partOf = ({ kind }, several) => (several ? PARTS.findIndex((part) => part === kind) : 0);

/**
 * The lines that an edit's words are searched in: what queries and keys of its kind are.
 * @type {(entries: TraceEntry[], first: number, several: boolean, kind: AttentionKind | null) => { queries: LineEntry, keys: LineEntry }}
 */
const linesOf = (entries, first, several, kind) => {
  const { queries, keys } = entries[several ? first + Math.max(PARTS.findIndex((part) => part === kind), 0) : first];
  return { queries, keys: keys ?? queries };
};

/**
 * Run a trace's text again with edits: the number of the new trace, and the entries of all traces after the `known`
 * ones. A run that the page has already isn't made again. Where a model has several kinds of attention, edits that name
 * none are of the trace's own.
 * @type {LiveAnswerer}
 */
export const answerEdited = async (kernel, session, request, turn) => {
  const { entries } = session;
  const number = whole(request, "trace", 0, entries.length - 1);
  const before = entries[number];
  const asTrained = before.name === "as trained" || PARTS.some((part) => part === before.name);
  if (!asTrained && !before.edits?.length) throw refused("trace", { name: before.name }, "trace");
  const source = session.source(before.model.name);
  const { kind, layers, decoderLayers, heads } = source.model.config;
  const several = kind === "encoder-decoder";
  const ofKind = several ? { encoder: layers, decoder: decoderLayers, cross: decoderLayers } : { encoder: layers };
  const sites = { layers: ofKind, heads };
  const edits = editsOf(request.edits).map((edit) => (several && !edit.kind ? { ...edit, kind: before.kind } : edit));
  check(edits, sites);
  const first = number - partOf(before, several);
  const placed = edits.map((edit) => {
    const { queries, keys } = linesOf(entries, first, several, edit.kind);
    return { ...edit, queries: found(edit.queries, queries, "queries"), keys: found(edit.keys, keys, "keys") };
  });
  const said = placed.map(wordsOf);
  const part = number - first;
  const { text, ids } = entries[first].queries;
  const is = (/** @type {TraceEntry} */ one, /** @type {number} */ at) =>
    one.model.name === before.model.name && one.kind === before.kind && String(one.edits ?? []) === String(said) &&
    String(entries[at - part]?.queries.ids) === String(ids);
  let made = entries.findIndex(is);
  if (made < 0) {
    const { cancelled, breathe } = turn;
    const options = { edits: lowered(placed, sites), said, called: edits.map(wordsOf), cancelled, breathe };
    made = session.add(await runText(kernel, source, text, options)) + part;
  }
  const known = whole(request, "known", 0, entries.length);
  return { reply: { made, entries: entries.slice(known) }, buffers: [] };
};
