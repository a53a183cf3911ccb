// Colours of numbers: one scale from nothing to most, of one hue and steadily darker (or, on dark, lighter), so that it
// reads the same with any colour vision; and one from negative to positive, magenta over neutral to olive, which are no query's, key's or value's colours.

/**
 * Stops in OKLab: lightness, green to red, blue to yellow. Source: Björn Ottosson, "A perceptual color space for image
 * processing" (2020).
 * @type {Record<Theme, OkLab[]>}
 */
const STOPS = {
  light: [[0.985, 0.0, 0.0], [0.88, 0.03, -0.05], [0.7, 0.055, -0.105], [0.5, 0.065, -0.145], [0.29, 0.045, -0.1]],
  dark: [[0.2, 0.0, -0.01], [0.36, 0.04, -0.09], [0.56, 0.06, -0.13], [0.77, 0.045, -0.085], [0.97, 0.005, -0.01]],
};
/** @type {Record<Theme, OkLab[]>} */
const DIVERGING = {
  light: [[0.46, 0.19, -0.035], [0.74, 0.115, -0.02], [0.985, 0, 0], [0.76, -0.055, 0.1], [0.46, -0.05, 0.09]],
  dark: [[0.78, 0.16, -0.03], [0.5, 0.15, -0.03], [0.22, 0, 0], [0.5, -0.045, 0.095], [0.83, -0.065, 0.14]],
};

/** @type {(linear: number) => number} */
const curve = (linear) => {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(Math.max(value, 0), 1));
};

/** @type {(colour: OkLab) => RGB} */
const rgb = ([L, a, b]) => {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    curve(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    curve(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    curve(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
};

/** @type {(stops: OkLab[]) => RGB[]} */
const table = (stops) =>
  Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) * (stops.length - 1);
    const at = Math.min(Math.floor(place), stops.length - 2);
    const [[L, a, b], after] = [stops[at], stops[at + 1]];
    const share = place - at;
    return rgb([L + share * (after[0] - L), a + share * (after[1] - a), b + share * (after[2] - b)]);
  });

/** @type {(theme: Theme) => { most: RGB[], both: RGB[] }} */
const tables = (theme) => ({ most: table(STOPS[theme]), both: table(DIVERGING[theme]) });
const TABLES = { light: tables("light"), dark: tables("dark") };

/** @type {(share: number) => number} */
const nearest = (share) => Math.min(Math.max(Math.round(share * 255), 0), 255);

/** The 256 colours, [red, green, blue] each, from zero to the largest. @type {(dark: boolean) => RGB[]} */
export const ramp = (dark) => TABLES[dark ? "dark" : "light"].most;

/** The CSS colour of a number as a share of the largest, 0 to 1. @type {(share: number, dark: boolean) => string} */
export const shade = (share, dark) => `rgb(${ramp(dark)[nearest(share)].join(" ")})`;

/** The colour of a number from −1 to 1, neutral in the middle. @type {(value: number, dark: boolean) => RGB} */
export const tintOf = (value, dark) => TABLES[dark ? "dark" : "light"].both[nearest((value + 1) / 2)];

/** The same for CSS. @type {(value: number, dark: boolean) => string} */
export const tint = (value, dark) => `rgb(${tintOf(value, dark).join(" ")})`;

/** Whether text on this colour has to be light. @type {(colour: RGB) => boolean} */
export const needsLight = ([red, green, blue]) => {
  const parts = [red, green, blue].map((part) => part / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.18;
};

/** Whether text on the `shade` of a share has to be light. @type {(share: number, dark: boolean) => boolean} */
export const lightOn = (share, dark) => needsLight(ramp(dark)[nearest(share)]);
