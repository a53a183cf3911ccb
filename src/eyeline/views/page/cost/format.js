// Large numbers, bytes and times as one reads them aloud.

import { localNumber } from "../language.js";

/** A whole number with all its digits. @type {(page: Page, value: number) => string} */
export const whole = (page, value) => localNumber(page, Math.round(value));

/** A number in three digits and words: "1.05 trillion". @type {(page: Page, value: number) => string} */
export const spoken = (page, value) =>
  value < 1e6 ? whole(page, value) : localNumber(page, value, { notation: "compact", compactDisplay: "long", maximumSignificantDigits: 3 });

/** @type {(page: Page, value: number) => string} */
const short = (page, value) => localNumber(page, value, { maximumSignificantDigits: value >= 100 ? 3 : 2 });

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Bytes: "2.4 GiB". @type {(page: Page, bytes: number) => string} */
export const size = (page, bytes) => {
  const at = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), SIZES.length - 1);
  return `${short(page, bytes / 1024 ** at)} ${SIZES[at]}`;
};

/** @type {[seconds: number, key: string][]} */
const UNITS = [[86400, "cost.days"], [3600, "cost.hours"], [60, "cost.minutes"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"]];

/** A time: "3.2 ms", "4.5 minutes"; ≈ before a guessed one. @type {(page: Page, time: { seconds: number, guessed: boolean }) => string} */
export const duration = (page, { seconds, guessed }) => {
  const [length, unit] = UNITS.find(([from]) => seconds >= from) ?? [1e-6, "µs"];
  const number = short(page, seconds / length);
  return `${guessed ? "≈ " : ""}${unit.includes(".") ? page.say(unit, { number }) : `${number} ${unit}`}`;
};

/** The length of a text in words: "a page". @type {(page: Page, n: number) => string} */
export const lengthSaid = (page, n) => {
  const last = LENGTHS.filter(([from]) => n >= from).length - 1;
  return page.say(`cost.long.${LENGTHS[Math.max(last, 0)][1]}`);
};

/** The tokens from which a text is called so: a page has about 500. @type {[from: number, name: string][]} */
const LENGTHS = [
  [0, "sentence"], [60, "paragraph"], [300, "page"], [800, "pages"], [2500, "article"], [7000, "chapter"], [30000, "novella"],
  [80000, "novel"], [250000, "thick"], [700000, "shelf"],
];

/** How many times as much: "4", "3.9". @type {(page: Page, ratio: number) => string} */
export const times = (page, ratio) => localNumber(page, ratio, { maximumSignificantDigits: 2 });
