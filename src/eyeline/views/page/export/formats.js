// Tables as CSV and JSON, and file names: each says what its numbers are of.

const FORMULA = /^[=+\-@\t\r]/; // the characters that make a spreadsheet run a cell
const INPUT = 80; // characters of a text in a table's rows; JSON has it whole

/** A number in the seven digits that float32 holds. @type {(value: Datum) => Datum} */
const rounded = (value) => {
  if (typeof value !== "number") return value;
  return Number.isFinite(value) ? Number(value.toPrecision(7)) : null;
};

/** @type {(value: Datum) => string} */
const field = (value) => {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The changes as in an address: "ahead=no padded=2". @type {(changes: Changes) => string} */
const changed = (changes) =>
  Object.entries(changes).map(([name, value]) => `${name}=${value === false ? "no" : value}`).join(" ");

/**
 * The columns that repeat the provenance in each row, without those that say nothing here or that the table has itself.
 * @type {(about: Provenance, own: string[]) => [name: string, value: Datum][]}
 */
const origin = ({ places, changes, quantity, unit, special, version }, own) => {
  /** @type {(prefix: string, place: Provenance["places"][number]) => [string, Datum][]} */
  const placed = (prefix, { text, keys, model, layer, head, mask }) => {
    const input = keys === undefined ? text : `${text} → ${keys}`;
    const short = input.length > INPUT ? `${input.slice(0, INPUT - 1)}…` : input;
    /** @type {[string, Datum][]} */
    const named = [["input", short], ["model", model], ["layer", layer], ["head", head], ["mask", mask]];
    return named.map(([name, value]) => [`${prefix}${name}`, value]);
  };
  const whole = [
    ...places.flatMap((place, at) => placed(at ? "other_" : "", place)),
    ["changes", changed(changes) || null], ["quantity", quantity], ["unit", unit], ["special", special],
    ["version", version],
  ];
  return /** @type {[string, Datum][]} */ (whole).filter(([name, value]) => value !== null && !own.includes(name));
};

/**
 * A table as CSV (RFC 4180, which has no comments): the first columns say, in each row, what its numbers are of, so
 * that tables of several heads can be put one below the other. A cell that a spreadsheet would run as a formula is
 * prefixed with an apostrophe.
 * @type {(about: Provenance, table: Table) => string}
 */
export const csv = (about, { columns, rows }) => {
  const first = origin(about, columns);
  const [names, values] = [first.map(([name]) => name), first.map(([, value]) => value)];
  return [[...names, ...columns], ...rows.map((row) => [...values, ...row])]
    .map((row) => row.map((value) => field(rounded(value))).join(",") + "\r\n")
    .join("");
};

/**
 * A table as JSON, one row per line, with its provenance; `words` restore the state.
 * @type {(about: Provenance, table: Table, words: string) => string}
 */
export const json = ({ version, places: [place, ...others], ...about }, { name, columns, rows }, words) => {
  const said = {
    schema: "eyeline.numbers/2", version, numbers: name, ...place, ...(others.length ? { others } : {}), ...about,
    words, columns,
  };
  const lines = rows.map((row) => `  ${JSON.stringify(row.map(rounded))}`).join(",\n");
  return `${JSON.stringify(said, null, 1).slice(0, -2)},\n "rows": [\n${lines}\n ]\n}\n`;
};

/**
 * A text's letters and digits, joined by hyphens, at most `most` characters.
 * @type {(text: string, most: number) => string}
 */
const slug = (text, most) => {
  const words = text.normalize("NFC").slice(0, 200).toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...words.join("-")].slice(0, most).join("").replace(/-$/, "");
};

/** @type {(place: Provenance["places"][number]) => string} */
const site = ({ layer, head }) => {
  if (layer === null) return "";
  return typeof head === "number" ? `L${layer}H${head}` : head === null ? `L${layer}` : `L${layer}-${head}`;
};

/**
 * A file name: "eyeline-matrix-minilm-L5H2-time-flies.csv"; changes and shares are in it too.
 * @type {(about: Provenance, view: string, kind: string) => string}
 */
export const fileName = ({ places, changes, quantity }, view, kind) => {
  const [first] = places;
  const parts = [
    "eyeline", view, first ? slug(first.model, 24) : "", ...new Set(places.map(site)), slug(changed(changes), 40),
    quantity === "share of the words" ? "shares" : "", first ? slug(first.text, 40) : "",
  ];
  return `${parts.filter(Boolean).join("-")}.${kind}`;
};
