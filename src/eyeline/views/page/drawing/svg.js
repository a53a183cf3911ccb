// A view as an SVG: boxes, texts, curves and images, measured from the elements of the page.

import { contextOf } from "./dom.js";

const EDGE = 16; // pixels around it
const HATCH = "eyeline-hatch";
const SIDES = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]);
const UNSEEN = // elements that aren't drawn
  "[hidden], .unseen, [data-hint], input, .stepper button, button.plain, details:not([open]), .pager";

/** A text as XML has it. @type {(text: string) => string} */
export const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
/** @type {(colour: string) => boolean} */
const clear = (colour) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);
/** @type {(value: number) => number} */
const round = (value) => Number(value.toFixed(2));

/**
 * The fonts of a text, as the page names them: what opens the picture takes the first that it has, so that the same
 * letters are drawn as on the page. (The last of the list alone, with the widths of the first, stretched them.)
 * @type {(style: CSSStyleDeclaration) => Record<string, string | number | null>}
 */
const fonts = (style) => ({
  "font-family": style.fontFamily.replaceAll('"', "'"), "font-size": parseFloat(style.fontSize),
  "font-weight": style.fontWeight, "font-style": style.fontStyle === "normal" ? null : style.fontStyle,
  "letter-spacing": style.letterSpacing === "normal" ? null : style.letterSpacing,
  "word-spacing": parseFloat(style.wordSpacing) ? style.wordSpacing : null,
});

/**
 * The part of a text line's height that is above its baseline.
 * @type {(style: CSSStyleDeclaration, pen: CanvasRenderingContext2D) => number}
 */
const ascent = (style, pen) => {
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText("x");
  return up / (up + down);
};

/**
 * The line boxes of a text: {text, left, right, top, height, direction}.
 * @type {(node: Text) => {
 *   text: string, left: number, right: number, top: number, height: number, direction: string,
 * }[]}
 */
const runs = (node) => {
  const reach = document.createRange();
  /** @type {(start: number, end: number) => DOMRect[]} */
  const boxes = (start, end) => {
    reach.setStart(node, start);
    reach.setEnd(node, end);
    return [...reach.getClientRects()];
  };
  /** @type {{ start: number, end: number, top: number }[]} */
  const found = [];
  for (let at = 0; at < node.data.length; ) {
    const end = at + ((node.data.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    const [box] = boxes(at, end);
    const last = found.at(-1);
    if (last && (!box || Math.abs(box.top - last.top) < 2)) last.end = end;
    else if (box) found.push({ start: at, end, top: box.top });
    at = end;
  }
  return found.map(({ start, end }) => {
    const all = boxes(start, end);
    const [left, right] = [Math.min(...all.map((box) => box.left)), Math.max(...all.map((box) => box.right))];
    const caret = boxes(start, start)[0]; // its side shows the reading direction
    const direction = caret && Math.abs(caret.left - right) < Math.abs(caret.left - left) ? "rtl" : "ltr";
    return { text: node.data.slice(start, end), left, right, top: all[0].top, height: all[0].height, direction };
  });
};

/**
 * The attributes of a tag: numbers rounded, null left out.
 * @type {(values: Record<string, string | number | null>) => string}
 */
const attributesOf = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? round(value) : escaped(String(value))}"`)
    .join("");

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Sides */

/** Collects the parts of an SVG, and their bounding box. */
class SvgBuilder {
  constructor() {
    /** @type {string[]} */
    this.parts = [];
    this.pen = contextOf(document.createElement("canvas"));
    this.box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  }

  /**
   * @param {string} part
   * @param {Sides} box
   */
  put(part, { left, top, right, bottom }) {
    this.parts.push(part);
    const { box } = this;
    Object.assign(box, {
      left: Math.min(box.left, left), top: Math.min(box.top, top),
      right: Math.max(box.right, right), bottom: Math.max(box.bottom, bottom),
    });
  }

  /** @param {Text} node */
  text(node) {
    if (!node.data.trim() || !node.parentElement) return;
    const style = getComputedStyle(node.parentElement);
    if (!parseFloat(style.fontSize)) return;
    const up = ascent(style, this.pen);
    const looks = attributesOf({
      ...fonts(style),
      fill: style.color,
      "text-decoration": style.textDecorationLine === "underline" ? "underline" : null,
      "text-anchor": "middle", "xml:space": "preserve",
    });
    for (const { text, left, right, top, height, direction } of runs(node)) {
      if (!text.trim()) continue;
      const place = attributesOf({ x: (left + right) / 2, y: top + up * height, direction });
      this.put(`<text${place}${looks}>${escaped(text)}</text>`, { left, right, top, bottom: top + height });
    }
  }

  /** @param {Element} part */
  boxes(part) {
    const style = getComputedStyle(part);
    const barred = style.backgroundImage !== "none";
    const [over, after, under, before] = SIDES.map((side) => parseFloat(style[`border${side}Width`])); // 0 for none
    const around = [after, under, before].every((width) => width === over);
    if (!around) this.borders(part, style, [over, after, under, before]);
    const [outline, border] = [parseFloat(style.outlineWidth), around ? over : 0];
    /** @type {[colour: string, width: number, outside: number] | null} The outline or border around it. */
    let edge = border ? [style.borderTopColor, border, -border / 2] : null;
    if (style.outlineStyle !== "none" && outline) {
      edge = [style.outlineColor, outline, parseFloat(style.outlineOffset) + outline / 2];
    }
    if (clear(style.backgroundColor) && !barred && !edge) return;
    const fill = barred ? `url(#${HATCH})` : clear(style.backgroundColor) ? null : style.backgroundColor;
    // A shadow to the side, without blur, makes a box wider.
    const shadows = style.boxShadow.includes("inset") ? [] : style.boxShadow.matchAll(/(-?[\d.]+)px 0px 0px 0px/g);
    const aside = [...shadows].map((found) => Number(found[1]));
    const rx = parseFloat(style.borderTopLeftRadius) || null;
    for (const { left, right, top, bottom } of part.getClientRects()) {
      if (right - left < 0.1 || bottom - top < 0.1) continue;
      /** @type {(by: number, wider: [left: number, right: number], paint: Record<string, string | number>) => void} */
      const rectangle = (by, wider, paint) => {
        const box = { left: left + wider[0] - by, right: right + wider[1] + by, top: top - by, bottom: bottom + by };
        const size = { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, rx };
        this.put(`<rect${attributesOf({ ...size, ...paint })}/>`, box);
      };
      if (fill) rectangle(0, [Math.min(0, ...aside), Math.max(0, ...aside)], { fill });
      if (edge) rectangle(edge[2], [0, 0], { fill: "none", stroke: edge[0], "stroke-width": edge[1] });
    }
  }

  /**
   * Borders that don't go all around.
   * @param {Element} part
   * @param {CSSStyleDeclaration} style
   * @param {[over: number, after: number, under: number, before: number]} widths
   */
  borders(part, style, [over, after, under, before]) {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    /** @type {(side: (typeof SIDES)[number], box: Sides) => void} */
    const line = (side, box) => {
      const [width, height] = [box.right - box.left, box.bottom - box.top];
      const values = { x: box.left, y: box.top, width, height, fill: style[`border${side}Color`] };
      if (width > 0 && height > 0) this.put(`<rect${attributesOf(values)}/>`, box);
    };
    line("Top", { left, right, top, bottom: top + over });
    line("Right", { left: right - after, right, top, bottom });
    line("Bottom", { left, right, top: bottom - under, bottom });
    line("Left", { left, right: left + before, top, bottom });
  }

  /** The chosen option of a drop-down list. @param {HTMLSelectElement} part */
  chosen(part) {
    const style = getComputedStyle(part);
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const size = parseFloat(style.fontSize);
    const place = { x: left + parseFloat(style.paddingLeft) + 1, y: (top + bottom) / 2 + 0.35 * size };
    const values = { ...place, ...fonts(style), fill: style.color };
    const text = escaped(part.selectedOptions[0]?.text ?? "");
    this.put(`<text${attributesOf(values)}>${text}</text>`, { left, right, top, bottom });
  }

  /** @param {Node} part */
  draw(part) {
    if (part instanceof Text) this.text(part);
    if (!(part instanceof Element) || part.matches(UNSEEN)) return;
    const { opacity, display } = getComputedStyle(part);
    if (display === "none") return; // it has no place: its box would reach to the window's corner
    if (opacity !== "1") this.parts.push(`<g opacity="${opacity}">`);
    this.inside(part);
    if (opacity !== "1") this.parts.push("</g>");
  }

  /** @param {Element} part */
  inside(part) {
    const { left, top, right, bottom, width, height } = part.getBoundingClientRect();
    if (part instanceof HTMLCanvasElement) {
      const size = { x: left, y: top, width, height, href: part.toDataURL() };
      this.put(`<image${attributesOf(size)}/>`, { left, top, right, bottom });
    } else if (part instanceof HTMLSelectElement) {
      this.chosen(part);
    } else if (part instanceof SVGSVGElement) {
      for (const one of part.children) {
        const seen = one.getBoundingClientRect();
        const drawing = new XMLSerializer().serializeToString(one);
        const placed = `<g transform="translate(${round(left)} ${round(top)})">${drawing}</g>`;
        // What isn't drawn, such as definitions, has no place, and takes no room.
        if (seen.width || seen.height) this.put(placed, seen);
        else this.parts.push(placed);
      }
    } else {
      this.boxes(part);
      for (const child of part.childNodes) this.draw(child);
    }
  }
}

/**
 * The parts of a view as an SVG text, with its colours. `root` is an element of the page, which gives the background.
 * @type {(root: Element, parts: Element[]) => string}
 */
export const svgOf = (root, parts) => {
  const frame = getComputedStyle(root.closest(".eyeline") ?? root);
  const built = new SvgBuilder();
  for (const part of parts) built.draw(part);
  const { left, top, right, bottom } = built.box;
  if (left > right) return "";
  const [width, height] = [Math.ceil(right - left) + 2 * EDGE, Math.ceil(bottom - top) + 2 * EDGE];
  /** @type {(values: Record<string, string | number>) => string} */
  const rectangle = (values) => `<rect${attributesOf(values)}/>`;
  const tile = { width: 5, height: 5 };
  const pattern = attributesOf({ id: HATCH, ...tile, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  const [ground, line] = ["--hidden", "--hatch"].map((name) => frame.getPropertyValue(name).trim());
  const hatch = rectangle({ ...tile, fill: ground }) + rectangle({ ...tile, width: 1, fill: line });
  const size = attributesOf({ xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  return (
    `<svg${size}><defs><pattern${pattern}>${hatch}</pattern></defs>` +
    `${rectangle({ width, height, fill: frame.backgroundColor })}` +
    `<g transform="translate(${round(EDGE - left)} ${round(EDGE - top)})">${built.parts.join("")}</g></svg>`
  );
};
