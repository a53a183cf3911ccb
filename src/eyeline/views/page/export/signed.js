// A picture with what it is of: a title for those who don't see it, and lines below it.

import { contextOf } from "../drawing/dom.js";
import { escaped } from "../drawing/svg.js";

const NARROWEST = 320; // pixels
const EDGE = 16; // pixels around the lines
const SIZE = 12;
const STEP = 17; // pixels from line to line
const FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** The parts of a text in lines of at most `width` pixels. @type {(parts: string[], width: number) => string[]} */
const wrapped = (parts, width) => {
  const pen = contextOf(document.createElement("canvas"));
  pen.font = `${SIZE}px ${FONT}`;
  /** @type {(text: string) => boolean} */
  const fits = (text) => pen.measureText(text).width <= width;
  /** @type {(text: string) => string} A part that is wider than a line loses its end, as a long text does. */
  const cut = (text) => {
    if (fits(text)) return text;
    let [least, most] = [0, Math.min(text.length, 2000)];
    while (least < most) {
      const middle = Math.ceil((least + most) / 2);
      if (fits(`${text.slice(0, middle)}…`)) least = middle;
      else most = middle - 1;
    }
    return `${text.slice(0, least)}…`;
  };
  /** @type {string[]} */
  const lines = [];
  for (const part of parts.map(cut)) {
    const joined = lines.length ? `${lines[lines.length - 1]} · ${part}` : part;
    if (lines.length && fits(joined)) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
};

/**
 * An SVG text with a title, and the parts of its provenance below its picture. (It is put together as text: parsing it
 * would apply the styles in it, which the policy of a server's page forbids.)
 * @type {(svg: string, parts: string[], colours: { ground: string, quiet: string }) => string}
 */
export const signed = (svg, parts, { ground, quiet }) => {
  const [tag] = svg.match(/^<svg[^>]*>/) ?? [""];
  const [width, height] = ["width", "height"].map((name) => Number(tag.match(` ${name}="([\\d.]+)"`)?.[1] ?? 0));
  const lines = wrapped(parts, Math.max(width, NARROWEST) - 2 * EDGE);
  const [wide, tall] = [Math.max(width, NARROWEST), height + lines.length * STEP + EDGE / 2];
  const larger = tag
    .replace(/ width="[^"]*"/, ` width="${wide}"`)
    .replace(/ height="[^"]*"/, ` height="${tall}"`)
    .replace(/ viewBox="[^"]*"/, ` viewBox="0 0 ${wide} ${tall}"`);
  const written = lines.map((text, at) => {
    const place = `x="${EDGE}" y="${height + at * STEP + SIZE - EDGE / 2 + 2}"`;
    const look = `font-family="${FONT}" font-size="${SIZE}" fill="${quiet}"`;
    return `<text class="provenance" ${place} ${look}>${escaped(text)}</text>`;
  });
  const title = `<title>${escaped(parts.join(" · "))}</title>`;
  const under = `<rect width="${wide}" height="${tall}" fill="${ground}"/>`;
  return `${larger}${title}${under}${svg.slice(tag.length, -"</svg>".length)}${written.join("")}</svg>`;
};
