// A head's examples as a table, to be kept as a file.

import { download } from "../../export/files.js";
import { csv, fileName, json } from "../../export/formats.js";
import { textOf } from "./example_words.js";
import { keysOf, partsOf, queryOf } from "./excerpt.js";

/** The most examples in a file. */
export const MOST = 10000;

const COLUMNS = [
  "sort", "rank", "weight", "query", "key", "query_position", "key_position", "text", "keys", "document", "file", "place",
  "window",
];

/** @type {(example: LookExample) => Datum[]} */
const row = (example) => {
  const { sort, rank, weight, document, file, place, window, query, key, tokens, positions, weights } = example;
  const found = keysOf(example);
  return [
    sort, rank, weight, tokens[queryOf(example)]?.trim(), tokens[found[0]]?.trim(), query, key, textOf(partsOf(example), example),
    found.map((at) => `${positions[at]}:${Number(weights[at].toPrecision(4))}`).join(" "), document, file, place, window,
  ];
};

/**
 * Keep examples as CSV or JSON; returns the file's name.
 * @type {(page: SurveyPage, sort: string, examples: LookExample[], kind: "csv" | "json") => string}
 */
export const keepExamples = (page, sort, examples, kind) => {
  const about = page.provenance();
  const table = { name: "examples", columns: COLUMNS, rows: examples.map(row) };
  const text = kind === "csv" ? csv(about, table) : json(about, table, page.words);
  const name = fileName(about, `examples-${sort}`, kind);
  download(name, new Blob([text], { type: `${kind === "csv" ? "text/csv" : "application/json"};charset=utf-8` }));
  return name;
};
