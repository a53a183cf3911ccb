// What is seen, as an SVG of its own: boxes, texts and curves, read off the elements as they are laid out.

const escaped = (text) =>
  text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "�").replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const clear = (colour) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);

const round = (value) => Number(value.toFixed(2));

// A family that is there everywhere, for the one that the page asks for.
const family = (style) => (/mono/i.test(style.fontFamily) ? "monospace" : /^[^,]*serif/i.test(style.fontFamily.replace(/sans-serif/i, "")) ? "serif" : "sans-serif");

const canvas = globalThis.document?.createElement("canvas").getContext("2d");

const ascent = (style) => {
  canvas.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = canvas.measureText("x");
  return up / (up + down);
};

// The parts of a text that stand on one line each: {text, box}.
const runs = (node) => {
  const reach = document.createRange();
  const found = [];
  for (let at = 0; at < node.data.length; ) {
    const step = node.data.codePointAt(at) > 0xffff ? 2 : 1;
    reach.setStart(node, at);
    reach.setEnd(node, at + step);
    const [box] = reach.getClientRects();
    const last = found.at(-1);
    if (last && (!box || Math.abs(box.top - last.box.top) < 2)) last.end = at + step;
    else if (box) found.push({ start: at, end: at + step, box });
    at += step;
  }
  return found.map(({ start, end }) => {
    reach.setStart(node, start);
    reach.setEnd(node, end);
    const boxes = [...reach.getClientRects()];
    const [left, right] = [Math.min(...boxes.map((box) => box.left)), Math.max(...boxes.map((box) => box.right))];
    return { text: node.data.slice(start, end), left, right, top: boxes[0].top, height: boxes[0].height };
  });
};

const written = (node, x, y) => {
  if (!node.data.trim()) return "";
  const style = getComputedStyle(node.parentElement);
  const up = ascent(style);
  const font = `font-family="${family(style)}" font-size="${parseFloat(style.fontSize)}" font-weight="${style.fontWeight}"`;
  return runs(node)
    .filter(({ text }) => text.trim())
    .map(({ text, left, right, top, height }) => {
      const [middle, base] = [round((left + right) / 2 - x), round(top + up * height - y)];
      const length = round(right - left);
      return `<text x="${middle}" y="${base}" text-anchor="middle" direction="${style.direction}" fill="${style.color}" ${font} textLength="${length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">${escaped(text)}</text>`;
    })
    .join("");
};

const boxed = (part, x, y) => {
  const style = getComputedStyle(part);
  const barred = style.backgroundImage !== "none";
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 && !part.matches(":focus-visible:not([data-kind*='asked'])");
  const framed = style.borderTopStyle !== "none" && parseFloat(style.borderTopWidth) > 0;
  if (clear(style.backgroundColor) && !barred && !outlined && !framed) return "";
  const fill = barred ? "url(#hatch)" : clear(style.backgroundColor) ? "none" : style.backgroundColor;
  const edge = outlined ? [style.outlineColor, style.outlineWidth] : framed ? [style.borderTopColor, style.borderTopWidth] : null;
  const stroke = edge ? ` stroke="${edge[0]}" stroke-width="${parseFloat(edge[1])}"` : "";
  const radius = parseFloat(style.borderTopLeftRadius) || 0;
  return [...part.getClientRects()]
    .filter((box) => box.width && box.height)
    .map((box) => `<rect x="${round(box.left - x)}" y="${round(box.top - y)}" width="${round(box.width)}" height="${round(box.height)}" rx="${radius}" fill="${fill}"${stroke}/>`)
    .join("");
};

const drawn = (part, x, y) => {
  if (part.nodeType === Node.TEXT_NODE) return written(part, x, y);
  if (part.nodeType !== Node.ELEMENT_NODE || part.matches("[hidden], .unseen, input, .pager")) return "";
  if (part.localName === "canvas") {
    const { left, top, width, height } = part.getBoundingClientRect();
    return `<image x="${round(left - x)}" y="${round(top - y)}" width="${round(width)}" height="${round(height)}" href="${part.toDataURL()}"/>`;
  }
  if (part.localName === "svg") {
    const { left, top } = part.getBoundingClientRect();
    return `<g transform="translate(${round(left - x)} ${round(top - y)})">${part.innerHTML}</g>`;
  }
  return boxed(part, x, y) + [...part.childNodes].map((child) => drawn(child, x, y)).join("");
};

/** The parts of a view as an SVG text, colours and all; `root` says where it stands and on what ground. */
export const pictured = (root, parts) => {
  const frame = getComputedStyle(root.closest(".eyeline"));
  const boxes = parts.filter((part) => !part.hidden).map((part) => part.getBoundingClientRect());
  const edge = 16;
  const [x, y] = [Math.min(...boxes.map((box) => box.left)) - edge, Math.min(...boxes.map((box) => box.top)) - edge];
  const width = Math.ceil(Math.max(...boxes.map((box) => box.right)) - x + edge);
  const height = Math.ceil(Math.max(...boxes.map((box) => box.bottom)) - y + edge);
  const [ground, hatch] = [frame.getPropertyValue("--hidden"), frame.getPropertyValue("--hatch")];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="${ground}"/><rect width="1.5" height="6" fill="${hatch}"/></pattern></defs>` +
    `<rect width="${width}" height="${height}" fill="${frame.backgroundColor}"/>${parts.map((part) => drawn(part, x, y)).join("")}</svg>`
  );
};
