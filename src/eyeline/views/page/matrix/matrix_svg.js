// The visible part of a matrix as an SVG: its cells are one image, its labels are text.

import { labels } from "./axes.js";
import { shape } from "../drawing/dom.js";
import { legendMarks, legendTitle, stops } from "./legend.js";
import { Plot, clipBars, inks, numbersSeen } from "./plot.js";

const MARGIN = 16;
const TITLE = 34;
const LEGEND = 62;
const SIGN = 7.5; // the approximate width of a character in the title, in pixels

/** @type {(text: string, width: number) => string} */
const cut = (text, width) => {
  const signs = [...text];
  return signs.length * SIGN > width ? `${signs.slice(0, Math.floor(width / SIGN) - 1).join("")}…` : text;
};

/** The SVG text of a matrix. @type {(matrix: Matrix, family: string, scene: Scene, level: number | null) => string} */
export const matrixSvg = (matrix, family, scene, level) => {
  const { page, viewport } = matrix;
  const { colourMap, lines, gutter } = scene;
  if (!lines) return "";
  const ink = inks(matrix.canvas);
  const cells = new Plot(document.createElement("canvas"));
  cells.resize(viewport.width, viewport.height, 2, ink, family);
  cells.paint({ ...scene, gutter: { left: 0, top: 0, turned: false }, weight: null, lines: null });
  const [left, top] = [MARGIN + gutter.left, MARGIN + TITLE + gutter.top];
  const width = Math.max(left + viewport.width + MARGIN, 320);
  const height = top + viewport.height + LEGEND + MARGIN;
  /** @type {(content: string, x: number, y: number, attributes?: Attributes) => SVGElement} */
  const text = (content, x, y, attributes = {}) =>
    shape("text", { x, y, fill: ink.text, "dominant-baseline": "central", ...attributes }, content);
  const { trace, state } = page;
  const title = page.called(trace);
  const place = `${trace.model.name} · ${page.named(trace, state.layer, state.head)}`;

  const numbers = scene.weight && colourMap ? numbersSeen(viewport, scene.weight, colourMap) : [];
  const written = numbers.map(({ row, column, text: number, light }) =>
    text(number, viewport.x(column + 0.5), viewport.y(row + 0.5), {
      "text-anchor": "middle", fill: light ? "#fff" : "#101318",
    }),
  );
  const bars = clipBars(viewport, lines).map(([x, y, across, down]) =>
    shape("rect", { x, y, width: across, height: down, fill: ink.key }),
  );
  const frame = { fill: "none", "stroke-width": 1.5 };
  const [wide, high] = [viewport.width + 4, viewport.height + 4];
  const side = viewport.size + 1;
  const pinned = [
    ...[...lines.rows.pinned].map((row) =>
      shape("rect", { ...frame, stroke: ink.query, x: -2, y: viewport.y(row) - 0.75, width: wide, height: side }),
    ),
    ...[...lines.columns.pinned].map((column) =>
      shape("rect", { ...frame, stroke: ink.key, x: viewport.x(column) - 0.75, y: -2, width: side, height: high }),
    ),
  ];
  const beside = labels(viewport, gutter, lines, scene.ruler).map((label) =>
    text(label.text, 0, 0, {
      transform: `translate(${label.x} ${label.y})${label.turned ? " rotate(-90)" : ""}`,
      "text-anchor": { left: "start", right: "end", center: "middle" }[label.align],
      style: { "unicode-bidi": "isolate" },
      fill: ink[label.colour],
      "font-weight": label.strong ? 600 : null,
    }),
  );

  const [bar, under] = [Math.min(240, width - 2 * MARGIN), top + viewport.height + 20];
  /** @type {(of: ColourMap) => SVGElement[]} */
  const scale = (of) => [
    shape(
      "linearGradient",
      { id: "ramp" },
      ...stops(of.dark).map(([colour, at]) => shape("stop", { offset: at, "stop-color": colour })),
    ),
    shape("rect", { x: MARGIN, y: under, width: bar, height: 10, fill: "url(#ramp)" }),
    ...legendMarks(of).map(({ place: at, text: mark }, index, all) => {
      const anchor = index === all.length - 1 ? "end" : index === 0 ? "start" : "middle";
      return text(mark, MARGIN + at * bar, under + 22, { "text-anchor": anchor, fill: ink.quiet });
    }),
    text(legendTitle(page, level), MARGIN, under + 42, { fill: ink.quiet }),
  ];
  const root = shape(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": family, "font-size": 12 },
    shape("title", {}, title),
    shape("rect", { width, height, fill: ink.ground }),
    text(cut(title, width - 2 * MARGIN), MARGIN, MARGIN + 6, { "font-size": 14, "font-weight": 600 }),
    text(place, MARGIN, MARGIN + 25, { fill: ink.quiet }),
    shape("image", {
      x: left, y: top, width: viewport.width, height: viewport.height,
      href: cells.canvas.toDataURL("image/png"), style: { "image-rendering": "pixelated" },
    }),
    shape("g", { transform: `translate(${left} ${top})` }, ...written, ...bars, ...pinned, ...beside),
    ...(colourMap ? scale(colourMap) : []),
  );
  return new XMLSerializer().serializeToString(root);
};
