// The visible part of a matrix as an SVG: its cells are one image, its labels are text.

import { Ruler, labels } from "./axes.js";
import { shape } from "../drawing/dom.js";
import { greyBars, titleHeight, titleLines } from "./grey_column.js";
import { legendMarks, legendTitle, scaleText, stops } from "./legend.js";
import { Plot, clipBars, font, inks, numberSize, numbersSeen } from "./plot.js";

const MARGIN = 16;
const LEGEND = 78;
const BAR = 252; // the width of the ramp

/** The SVG text of a matrix. @type {(matrix: Matrix, family: string, scene: Scene, level: number | null) => string} */
export const matrixSvg = (matrix, family, scene, level) => {
  const { page, viewport } = matrix;
  const { colourMap, lines, gutter, aside } = scene;
  if (!lines) return "";
  const ink = inks(matrix.canvas);
  const cells = new Plot(document.createElement("canvas"));
  cells.resize(viewport.width, viewport.height, 2, ink, family);
  cells.paint({ ...scene, gutter: { left: 0, top: 0, turned: false, letters: 12 }, weight: null, lines: null });
  const [left, top] = [MARGIN + gutter.left, MARGIN + gutter.top];
  const strip = aside ? aside.gap + aside.width : 0;
  const width = Math.max(left + viewport.width + strip + MARGIN, 320);
  const height = top + viewport.height + LEGEND + MARGIN;
  /** @type {(content: string, x: number, y: number, attributes?: Attributes) => SVGElement} */
  const text = (content, x, y, attributes = {}) =>
    shape("text", { x, y, fill: ink.text, "dominant-baseline": "central", ...attributes }, content);
  const numbers = scene.weight && colourMap ? numbersSeen(viewport, scene.weight, colourMap) : [];
  const written = numbers.map(({ row, column, text: number, light }) =>
    text(number, viewport.x(column + 0.5), viewport.y(row + 0.5), {
      "text-anchor": "middle", fill: light ? "#fff" : "#101318", "font-size": numberSize(viewport.size),
    }),
  );
  /** @type {(grey: NonNullable<Scene["aside"]>) => SVGElement[]} */
  const greyColumn = ({ gap, width: wide, title, numbers: given }) => {
    const [from, middle] = [viewport.width + gap, viewport.width + gap + wide / 2];
    const above = titleLines(title).map((line, at, all) =>
      text(line, middle, -titleHeight(at, all), { "text-anchor": "middle", fill: ink.quiet }),
    );
    const bars = greyBars(viewport, given).flatMap(({ y, height: high, number, text: part }) => [
      shape("rect", { x: from, y, width: wide, height: high, fill: ink.raised }),
      shape("rect", { x: from, y, width: wide * Math.min(number, 1), height: high, fill: ink.aside }),
      ...(part ? [text(part, middle, y + high / 2, { "text-anchor": "middle" })] : []),
    ]);
    return [...bars, ...above];
  };
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
      fill: ink[label.colour], "font-size": gutter.letters,
      "font-weight": label.strong ? 600 : null,
    }),
  );

  const under = top + viewport.height + 20;
  const ruler = new Ruler(font(family, false));
  /** @type {(of: ColourMap) => SVGElement[]} */
  const scale = (of) => [
    shape(
      "linearGradient",
      { id: "ramp" },
      ...stops(of.dark).map(([colour, at]) => shape("stop", { offset: at, "stop-color": colour })),
    ),
    shape("rect", { x: MARGIN, y: under, width: BAR, height: 10, fill: "url(#ramp)" }),
    ...legendMarks(of, BAR, (mark) => ruler.width(mark)).map(({ place: at, text: mark, align }) =>
      text(mark, MARGIN + at * BAR, under + 22, { "text-anchor": align, fill: ink.quiet }),
    ),
    text(legendTitle(page, level, aside !== null), MARGIN, under + 42, { fill: ink.quiet }),
    text(scaleText(page, of), MARGIN, under + 60, { fill: ink.quiet }),
  ];
  const root = shape(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": family, "font-size": 12 },
    shape("rect", { width, height, fill: ink.ground }),
    shape("image", {
      x: left, y: top, width: viewport.width, height: viewport.height,
      href: cells.canvas.toDataURL("image/png"), style: { "image-rendering": "pixelated" },
    }),
    shape(
      "g",
      { transform: `translate(${left} ${top})` },
      ...written, ...bars, ...pinned, ...beside, ...(aside ? greyColumn(aside) : []),
    ),
    ...(colourMap ? scale(colourMap) : []),
  );
  return new XMLSerializer().serializeToString(root);
};
