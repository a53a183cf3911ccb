// Tables as CSV and JSON, and file names.

const FORMULA = /^[=+\-@\t\r]/; // the characters that make a spreadsheet run a cell

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

/**
 * A table as CSV (RFC 4180). A cell that a spreadsheet would run as a formula is prefixed with an apostrophe.
 * @type {(table: Table) => string}
 */
export const csv = ({ columns, rows }) =>
  [columns, ...rows].map((row) => row.map((value) => field(rounded(value))).join(",") + "\r\n").join("");

/** A table as JSON, one row per line, with its model, text and place. @type {(page: Page, table: Table) => string} */
export const json = (page, { name, columns, rows }) => {
  const { trace, state, words, header } = page;
  const about = {
    schema: "eyeline.numbers/2", version: header.version, numbers: name, model: trace.model.name, trace: trace.name,
    text: trace.queries.text, ...(trace.crossing ? { keys: trace.keys.text } : {}),
    layer: state.layer, head: state.head, unit: state.unit, words, columns,
  };
  const lines = rows.map((row) => `  ${JSON.stringify(row.map(rounded))}`).join(",\n");
  return `${JSON.stringify(about, null, 1).slice(0, -2)},\n "rows": [\n${lines}\n ]\n}\n`;
};

/**
 * A file name for the current view: "eyeline-matrix-L5H2-time-flies.csv".
 * @type {(page: Page, kind: string) => string}
 */
export const fileName = (page, kind) => {
  const { state, trace } = page;
  const text = trace.queries.text.normalize("NFC").slice(0, 200).toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const place = typeof state.head === "number" ? `L${state.layer}H${state.head}` : `L${state.layer}-${state.head}`;
  const slug = [...text.join("-")].slice(0, 40).join("").replace(/-$/, "");
  return `${["eyeline", state.view, place, slug].filter((part) => part !== "").join("-")}.${kind}`;
};
