// What is seen, as an SVG of its own: boxes, texts, curves and images, read off the elements as they are laid out.

const EDGE = 16; // pixels around it
const HATCH = "eyeline-hatch";
const SIDES = ["Top", "Right", "Bottom", "Left"];
const UNSEEN = // what isn't drawn
  "[hidden], .unseen, [data-hint], input, .stepper button, button.plain, details:not([open]), .pager";

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const clear = (colour) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);
const round = (value) => Number(value.toFixed(2));

// A family that is there everywhere, for the ones that the page asks for: the last of its list.
const family = ({ fontFamily }) => fontFamily.split(",").at(-1).trim();

// How much of the height of a line of text stands over its base line.
const ascent = (style, pen) => {
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText("x");
  return up / (up + down);
};

// The parts of a text that stand on one line each: {text, left, right, top, height, direction}.
const runs = (node) => {
  const reach = document.createRange();
  const boxes = (start, end) => {
    reach.setStart(node, start);
    reach.setEnd(node, end);
    return [...reach.getClientRects()];
  };
  const found = [];
  for (let at = 0; at < node.data.length; ) {
    const end = at + (node.data.codePointAt(at) > 0xffff ? 2 : 1);
    const [box] = boxes(at, end);
    const last = found.at(-1);
    if (last && (!box || Math.abs(box.top - last.top) < 2)) last.end = end;
    else if (box) found.push({ start: at, end, top: box.top });
    at = end;
  }
  return found.map(({ start, end }) => {
    const all = boxes(start, end);
    const [left, right] = [Math.min(...all.map((box) => box.left)), Math.max(...all.map((box) => box.right))];
    const caret = boxes(start, start)[0]; // which way it is read shows where it begins
    const direction = caret && Math.abs(caret.left - right) < Math.abs(caret.left - left) ? "rtl" : "ltr";
    return { text: node.data.slice(start, end), left, right, top: all[0].top, height: all[0].height, direction };
  });
};

// The attributes of a tag: numbers rounded, what is null left out.
const attributes = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? round(value) : escaped(value)}"`)
    .join("");

/** A picture in the making. */
class SvgBuilder {
  constructor() {
    this.parts = [];
    this.pen = document.createElement("canvas").getContext("2d");
    this.box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  }

  put(part, { left, top, right, bottom }) {
    this.parts.push(part);
    const { box } = this;
    Object.assign(box, {
      left: Math.min(box.left, left), top: Math.min(box.top, top),
      right: Math.max(box.right, right), bottom: Math.max(box.bottom, bottom),
    });
  }

  text(node) {
    if (!node.data.trim()) return;
    const style = getComputedStyle(node.parentElement);
    if (!parseFloat(style.fontSize)) return;
    const up = ascent(style, this.pen);
    const looks = attributes({
      "font-family": family(style), "font-size": parseFloat(style.fontSize), "font-weight": style.fontWeight,
      fill: style.color,
      "text-decoration": style.textDecorationLine === "underline" ? "underline" : null,
      "text-anchor": "middle", lengthAdjust: "spacingAndGlyphs", "xml:space": "preserve",
    });
    for (const { text, left, right, top, height, direction } of runs(node)) {
      if (!text.trim()) continue;
      const place = attributes({ x: (left + right) / 2, y: top + up * height, textLength: right - left, direction });
      this.put(`<text${place}${looks}>${escaped(text)}</text>`, { left, right, top, bottom: top + height });
    }
  }

  boxes(part) {
    const style = getComputedStyle(part);
    const barred = style.backgroundImage !== "none";
    const sides = SIDES.map((side) => parseFloat(style[`border${side}Width`])); // 0 where there is no border
    const around = sides.every((width) => width === sides[0]);
    if (!around) this.borders(part, style, sides);
    const [outline, border] = [parseFloat(style.outlineWidth), around ? sides[0] : 0];
    // What goes all round it: its colour, its width, and how far outside.
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
      const rectangle = (by, [before, after], paint) => {
        const box = { left: left + before - by, right: right + after + by, top: top - by, bottom: bottom + by };
        const size = { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, rx };
        this.put(`<rect${attributes({ ...size, ...paint })}/>`, box);
      };
      if (fill) rectangle(0, [Math.min(0, ...aside), Math.max(0, ...aside)], { fill });
      if (edge) rectangle(edge[2], [0, 0], { fill: "none", stroke: edge[0], "stroke-width": edge[1] });
    }
  }

  // Borders that don't go all around.
  borders(part, style, [over, after, under, before]) {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const line = (side, box) => {
      const [width, height] = [box.right - box.left, box.bottom - box.top];
      const values = { x: box.left, y: box.top, width, height, fill: style[`border${side}Color`] };
      if (width > 0 && height > 0) this.put(`<rect${attributes(values)}/>`, box);
    };
    line("Top", { left, right, top, bottom: top + over });
    line("Right", { left: right - after, right, top, bottom });
    line("Bottom", { left, right, top: bottom - under, bottom });
    line("Left", { left, right: left + before, top, bottom });
  }

  // What a list of options shows: the one that is chosen.
  chosen(part) {
    const style = getComputedStyle(part);
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const size = parseFloat(style.fontSize);
    const place = { x: left + parseFloat(style.paddingLeft) + 1, y: (top + bottom) / 2 + 0.35 * size };
    const values = { ...place, "font-family": family(style), "font-size": size, fill: style.color };
    const text = escaped(part.selectedOptions[0]?.text ?? "");
    this.put(`<text${attributes(values)}>${text}</text>`, { left, right, top, bottom });
  }

  draw(part) {
    if (part.nodeType === Node.TEXT_NODE) return this.text(part);
    if (part.nodeType !== Node.ELEMENT_NODE || part.matches(UNSEEN)) return undefined;
    const { opacity } = getComputedStyle(part);
    if (opacity !== "1") this.parts.push(`<g opacity="${opacity}">`);
    this.inside(part);
    if (opacity !== "1") this.parts.push("</g>");
    return undefined;
  }

  inside(part) {
    const { left, top, right, bottom, width, height } = part.getBoundingClientRect();
    if (part.localName === "canvas") {
      const size = { x: left, y: top, width, height, href: part.toDataURL() };
      return this.put(`<image${attributes(size)}/>`, { left, top, right, bottom });
    }
    if (part.localName === "select") return this.chosen(part);
    if (part.localName === "svg") {
      for (const one of part.children) {
        const seen = one.getBoundingClientRect();
        const drawing = new XMLSerializer().serializeToString(one);
        this.put(`<g transform="translate(${round(left)} ${round(top)})">${drawing}</g>`, seen);
      }
      return undefined;
    }
    this.boxes(part);
    for (const child of part.childNodes) this.draw(child);
    return undefined;
  }
}

/** The parts of a view as an SVG text, colours and all. `root` is within the page, whose ground it stands on. */
export const svgOf = (root, parts) => {
  const frame = getComputedStyle(root.closest(".eyeline"));
  const paper = new SvgBuilder();
  for (const part of parts) paper.draw(part);
  const { left, top, right, bottom } = paper.box;
  if (left > right) return "";
  const [width, height] = [Math.ceil(right - left) + 2 * EDGE, Math.ceil(bottom - top) + 2 * EDGE];
  const rectangle = (values) => `<rect${attributes(values)}/>`;
  const tile = { width: 5, height: 5 };
  const pattern = attributes({ id: HATCH, ...tile, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  const [ground, line] = ["--hidden", "--hatch"].map((name) => frame.getPropertyValue(name).trim());
  const hatch = rectangle({ ...tile, fill: ground }) + rectangle({ ...tile, width: 1, fill: line });
  const size = attributes({ xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  return (
    `<svg${size}><defs><pattern${pattern}>${hatch}</pattern></defs>` +
    `${rectangle({ width, height, fill: frame.backgroundColor })}` +
    `<g transform="translate(${round(EDGE - left)} ${round(EDGE - top)})">${paper.parts.join("")}</g></svg>`
  );
};
