// What is said of an example: where it is from, and where its token looks.

import { isolated, named, onScale, printable } from "../../drawing/labels.js";
import { localNumber } from "../../language.js";
import { keysOf, queryOf } from "./excerpt.js";

/** How far a key is from the query: "4 before", "itself". @type {(page: SurveyPage, example: LookExample, at: number) => string} */
export const awaySaid = (page, { positions, query }, at) => {
  const away = positions[at] - query;
  if (!away) return page.say("survey.head.itself");
  return page.say(away < 0 ? "survey.head.before" : "survey.head.after", { count: Math.abs(away) });
};

/** A file's own name. @type {(path: string) => string} */
export const fileSaid = (path) => printable(path.split(/[/\\]/).at(-1) ?? path);

/** Where an example is from. @type {(page: SurveyPage, example: LookExample) => string} */
export const sourceSaid = (page, { file, place, document }) =>
  file
    ? page.say("survey.head.source", { file: isolated(fileSaid(file)), place: localNumber(page, place) })
    : page.say("survey.head.source.text", { document: localNumber(page, document) });

/** Where an example's token looks: “flies” 93% → “time”, 1 before. @type {(page: SurveyPage, example: LookExample, end: number) => string} */
export const lookSaid = (page, example, end) => {
  const [query, [key]] = [queryOf(example), keysOf(example)];
  const { tokens, weights } = example;
  if (key === undefined || query < 0) return "";
  return page.say("survey.head.look", {
    query: isolated(named(tokens[query])), key: isolated(named(tokens[key])), share: onScale(weights[key], end),
    away: awaySaid(page, example, key),
  });
};

/** An example's text, with … where some is left out. @type {(parts: LookPart[], example: LookExample) => string} */
export const textOf = (parts, { tokens }) =>
  parts.map((part) => ("at" in part ? tokens[part.at] : " … ")).join("").replace(/\s+/g, " ").trim();
