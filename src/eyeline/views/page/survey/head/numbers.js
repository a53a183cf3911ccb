// A head's numbers as one table: each row is a measure, or one range or type of a distribution.

import { plainMeasures, spreadOf } from "./measure_table.js";

/** @type {(page: SurveyPage, tokens: LookingTokens | null) => Table} */
export const numbersOf = (page, tokens) => {
  const { survey, state: { layer, head } } = page;
  const { entry, scales } = survey;
  const at = layer * survey.heads + head;
  /** @type {Datum[][]} */
  const rows = plainMeasures(survey).map((name) => [
    "measure", name, null, null, survey.value(name, layer, head), spreadOf(survey, name, layer, head), null,
  ]);
  for (const name of /** @type {const} */ (["offsets", "entropies", "largest"])) {
    (entry[name][at] ?? []).forEach((share, range) => {
      if (share) rows.push([name, null, scales[name][range], scales[name][range + 1], share, null, null]);
    });
  }
  for (const name of /** @type {const} */ (["to", "received"])) {
    for (const type of survey.types) rows.push([name, type, null, null, entry[name][type]?.[at] ?? null, null, null]);
  }
  tokens?.type.forEach((type, row) => {
    for (const name of /** @type {const} */ (["entropy", "distance", "received"])) {
      rows.push([`${name} of the looking token`, type, tokens.position[row], null, tokens[name][row], null, tokens.count[row]]);
    }
    survey.types.forEach((to, column) => {
      rows.push([`to ${to} of the looking token`, type, tokens.position[row], null, tokens.to[row][column], null, tokens.count[row]]);
    });
  });
  return { name: "head", columns: ["numbers", "name", "first", "end", "value", "sd", "tokens"], rows };
};
