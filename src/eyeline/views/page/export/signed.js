// A picture with what it is of: a title for those who don't see it, and lines below it.

import { contextOf } from "../drawing/dom.js";

const SVG = "http://www.w3.org/2000/svg";
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
 * An SVG text with a title, and the parts of its provenance below its picture, in a colour.
 * @type {(svg: string, title: string, parts: string[], colour: string) => string}
 */
export const signed = (svg, title, parts, colour) => {
  const drawing = new DOMParser().parseFromString(svg, "image/svg+xml");
  const root = drawing.documentElement;
  const [width, height] = ["width", "height"].map((name) => Number(root.getAttribute(name)));
  const lines = wrapped(parts, Math.max(width, 320) - 2 * EDGE);
  const [wide, tall] = [Math.max(width, 320), height + lines.length * STEP + EDGE / 2];
  /** @type {(tag: string, attributes: Record<string, string | number>, text?: string) => Element} */
  const made = (tag, attributes, text = "") => {
    const part = drawing.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, String(value));
    part.textContent = text;
    return part;
  };
  const ground = root.querySelector(":scope > rect");
  for (const [name, size] of /** @type {const} */ ([["width", wide], ["height", tall]])) {
    ground?.setAttribute(name, String(size));
    root.setAttribute(name, String(size));
  }
  root.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
  root.querySelector(":scope > title")?.remove();
  root.prepend(made("title", {}, title));
  const look = { "font-family": FONT, "font-size": SIZE, fill: colour, class: "provenance" };
  lines.forEach((text, at) => {
    root.append(made("text", { x: EDGE, y: height + at * STEP + SIZE - EDGE / 2 + 2, ...look }, text));
  });
  return new XMLSerializer().serializeToString(drawing);
};
