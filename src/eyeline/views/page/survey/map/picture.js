// The map as an SVG text: the maps below one another, with their scale and the signs of the kinds.

import { drawMap, colourOf } from "./drawing.js";
import { GLYPHS } from "./glyphs.js";
import { layoutOf } from "./layout.js";
import { svgPen } from "./pens.js";

const EDGE = 16;
const SIDE = 154;
const STEPS = 60; // boxes of the scale

/**
 * @type {(
 *   page: SurveyPage, root: HTMLElement, scale: { name: string, least: string, most: string }, boards: { content: MapContent | null, room: number }[],
 * ) => string}
 */
export const mapPicture = (page, root, scale, boards) => {
  const pen = svgPen();
  const { dark } = page;
  const style = getComputedStyle(root);
  /** @type {(name: string) => string} */
  const colour = (name) => style.getPropertyValue(name).trim();
  const [text, quiet] = [colour("--text"), colour("--quiet")];
  let [y, wide] = [12, 0];
  const contents = boards.flatMap(({ content, room }) => (content ? [{ content, room }] : []));
  const [first] = contents;
  if (first) {
    const { end, signed } = first.content;
    pen.text(scale.name, 0, y, { size: 13, fill: text, bold: true });
    const from = 8 * scale.least.length + 4;
    pen.text(scale.least, from - 6, y + 22, { size: 12, fill: text, anchor: "end" });
    for (let step = 0; step < STEPS; step++) {
      const part = (step + 0.5) / STEPS;
      pen.box(from + step * 4, y + 12, 4, 11, colourOf({ end, signed }, end * (signed ? 2 * part - 1 : part), dark));
    }
    pen.text(scale.most, from + STEPS * 4 + 6, y + 22, { size: 12, fill: text });
    y += 50;
    const kinds = /** @type {KindName[]} */ (Object.keys(GLYPHS)).filter((kind) =>
      GLYPHS[kind] && contents.some(({ content }) => content.kinds.some((own) => own.includes(kind))));
    let x = 0;
    for (const kind of kinds) {
      const name = page.say(`kind.${kind}`);
      pen.lines(GLYPHS[kind], x, y - 11, 13, text);
      pen.text(name, x + 18, y, { size: 12, fill: quiet });
      x += 34 + 7 * name.length;
    }
    wide = x;
    y += 22;
  }
  for (const { content, room } of contents) {
    const layout = layoutOf(content.order, content.values, content.heads, room, content.sums.parts.length ? SIDE : 0);
    if (page.surveys.length > 1) pen.text(content.title, 0, (y += 14), { size: 13, fill: text, bold: true });
    const from = pen.parts.length;
    drawMap(pen, content, layout, { dark, colour });
    pen.parts.splice(from, 0, `<g transform="translate(0 ${(y += 6)})">`);
    pen.parts.push("</g>");
    y += layout.whole[1] + 16;
    wide = Math.max(wide, layout.whole[0]);
  }
  const [width, height] = [Math.ceil(wide) + 2 * EDGE, Math.ceil(y) + 2 * EDGE];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<rect width="${width}" height="${height}" fill="${colour("--ground")}"/>` +
    `<g transform="translate(${EDGE} ${EDGE})">${pen.parts.join("")}</g></svg>`
  );
};
