// What is seen, as an SVG of its own: boxes, texts, curves and images, read off the elements as they are laid out.

const EDGE = 16; // pixels around it
const HATCH = "eyeline-hatch";
const SIDES = ["Top", "Right", "Bottom", "Left"];
const UNSEEN = "[hidden], .unseen, [data-hint], input, .stepper button, button.plain, details:not([open]), .pager"; // what isn't drawn

const escaped = (text) =>
  text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

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

/** A picture in the making. */
class Paper {
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
    const font = `font-family="${escaped(family(style))}" font-size="${parseFloat(style.fontSize)}" font-weight="${style.fontWeight}"`;
    for (const { text, left, right, top, height, direction } of runs(node)) {
      if (!text.trim()) continue;
      const place = `x="${round((left + right) / 2)}" y="${round(top + up * height)}" textLength="${round(right - left)}"`;
      const line = style.textDecorationLine === "underline" ? ' text-decoration="underline"' : "";
      this.put(
        `<text ${place} ${font} fill="${style.color}" text-anchor="middle" direction="${direction}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${line}>${escaped(text)}</text>`,
        { left, right, top, bottom: top + height },
      );
    }
  }

  boxes(part) {
    const style = getComputedStyle(part);
    const barred = style.backgroundImage !== "none";
    const sides = SIDES.map((side) => parseFloat(style[`border${side}Width`])); // 0 where there is no border
    const around = sides.every((width) => width === sides[0]);
    const [outline, border] = [parseFloat(style.outlineWidth), around ? sides[0] : 0];
    const edge =
      style.outlineStyle !== "none" && outline ? [style.outlineColor, outline, parseFloat(style.outlineOffset) + outline / 2]
      : border ? [style.borderTopColor, border, -border / 2]
      : null;
    if (!around) this.borders(part, style, sides);
    if (clear(style.backgroundColor) && !barred && !edge) return;
    const fill = barred ? `url(#${HATCH})` : clear(style.backgroundColor) ? null : style.backgroundColor;
    // A shadow to the side, without blur, makes a box wider.
    const aside = style.boxShadow.includes("inset") ? [] : [...style.boxShadow.matchAll(/(-?[\d.]+)px 0px 0px 0px/g)].map((found) => Number(found[1]));
    const radius = parseFloat(style.borderTopLeftRadius) || 0;
    for (const { left, right, top, bottom } of part.getClientRects()) {
      if (right - left < 0.1 || bottom - top < 0.1) continue;
      const rectangle = (by, [before, after], paint) => {
        const box = { left: left + before - by, right: right + after + by, top: top - by, bottom: bottom + by };
        const size = `x="${round(box.left)}" y="${round(box.top)}" width="${round(box.right - box.left)}" height="${round(box.bottom - box.top)}" rx="${radius}"`;
        this.put(`<rect ${size} ${paint}/>`, box);
      };
      if (fill) rectangle(0, [Math.min(0, ...aside), Math.max(0, ...aside)], `fill="${fill}"`);
      if (edge) rectangle(edge[2], [0, 0], `fill="none" stroke="${edge[0]}" stroke-width="${edge[1]}"`);
    }
  }

  // Borders that don't go all around.
  borders(part, style, [over, after, under, before]) {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    const line = (side, box) => {
      const size = `x="${round(box.left)}" y="${round(box.top)}" width="${round(box.right - box.left)}" height="${round(box.bottom - box.top)}"`;
      if (box.right > box.left && box.bottom > box.top) this.put(`<rect ${size} fill="${style[`border${side}Color`]}"/>`, box);
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
    const [x, y] = [left + parseFloat(style.paddingLeft) + 1, (top + bottom) / 2 + 0.35 * parseFloat(style.fontSize)];
    const font = `font-family="${escaped(family(style))}" font-size="${parseFloat(style.fontSize)}"`;
    const text = escaped(part.selectedOptions[0]?.text ?? "");
    this.put(`<text x="${round(x)}" y="${round(y)}" ${font} fill="${style.color}">${text}</text>`, { left, right, top, bottom });
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
      const size = `x="${round(left)}" y="${round(top)}" width="${round(width)}" height="${round(height)}"`;
      return this.put(`<image ${size} href="${part.toDataURL()}"/>`, { left, top, right, bottom });
    }
    if (part.localName === "select") return this.chosen(part);
    if (part.localName === "svg") {
      for (const one of part.children) {
        const seen = one.getBoundingClientRect();
        this.put(`<g transform="translate(${round(left)} ${round(top)})">${new XMLSerializer().serializeToString(one)}</g>`, seen);
      }
      return undefined;
    }
    this.boxes(part);
    for (const child of part.childNodes) this.draw(child);
    return undefined;
  }
}

/** The parts of a view as an SVG text, colours and all. `root` is within the page, whose ground it stands on. */
export const pictured = (root, parts) => {
  const frame = getComputedStyle(root.closest(".eyeline"));
  const paper = new Paper();
  for (const part of parts) paper.draw(part);
  const { left, top, right, bottom } = paper.box;
  if (left > right) return "";
  const [width, height] = [Math.ceil(right - left) + 2 * EDGE, Math.ceil(bottom - top) + 2 * EDGE];
  const hatch = `<pattern id="${HATCH}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="5" height="5" fill="${frame.getPropertyValue("--hidden")}"/><rect width="1" height="5" fill="${frame.getPropertyValue("--hatch")}"/></pattern>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><defs>${hatch}</defs>` +
    `<rect width="${width}" height="${height}" fill="${frame.backgroundColor}"/>` +
    `<g transform="translate(${round(EDGE - left)} ${round(EDGE - top)})">${paper.parts.join("")}</g></svg>`
  );
};
