// A head's place among all heads, in words.

/** @type {(page: SurveyPage, number: number) => string} */
const ordinal = (page, number) => {
  const kind = new Intl.PluralRules(page.language, { type: "ordinal" }).select(number);
  return page.say(`survey.head.ordinal.${kind === "one" || kind === "two" || kind === "few" ? kind : "other"}`, { number });
};

/**
 * The place of a number among others: "largest of 72", "3rd largest of 72", "smallest of 72". Equal numbers share the
 * place; empty if there is no number, or no other.
 * @type {(page: SurveyPage, value: number, all: Float64Array) => string}
 */
export const placeSaid = (page, value, all) => {
  const others = all.filter((one) => !Number.isNaN(one));
  if (Number.isNaN(value) || others.length < 2) return "";
  const [larger, smaller] = [others.filter((one) => one > value).length, others.filter((one) => one < value).length];
  const count = others.length;
  if (!larger && !smaller) return page.say("survey.head.place.same", { count });
  const [side, rank] = larger <= smaller ? ["largest", larger] : ["smallest", smaller];
  if (!rank) return page.say(`survey.head.place.${side}`, { count });
  return page.say(`survey.head.place.${side}.nth`, { ordinal: ordinal(page, rank + 1), count });
};
