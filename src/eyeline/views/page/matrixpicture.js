// The matrix that is seen as an SVG: its cells are one image, what is written is text.

import { labels } from "./axes.js";
import { shape } from "./dom.js";
import { legendMarks, stops } from "./legend.js";
import { Plot, clipBars, inks, numbersSeen } from "./plot.js";

const MARGIN = 16;
const TITLE = 34;
const LEGEND = 62;

/** The SVG text of a matrix as `plot` draws it. */
export const matrixPicture = (matrix, plot, scene, level) => {
  const { page, viewport, gutter } = matrix;
  const ink = inks(matrix.canvas);
  const family = plot.family;
  const cells = new Plot(document.createElement("canvas"));
  cells.resize(viewport.width, viewport.height, 2, ink, family);
  cells.paint({ ...scene, gutter: { left: 0, top: 0 }, weight: null, lines: null });
  const [left, top] = [MARGIN + gutter.left, MARGIN + TITLE + gutter.top];
  const width = Math.max(left + viewport.width + MARGIN, 320);
  const height = top + viewport.height + LEGEND + MARGIN;
  const text = (content, x, y, attributes = {}) => shape("text", { x, y, fill: ink.text, "dominant-baseline": "central", ...attributes }, content);
  const { tone } = scene;
  const title = page.called(page.trace);
  const bar = Math.min(240, width - 2 * MARGIN);
  const under = top + viewport.height + 20;
  const root = shape(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": family, "font-size": 12 },
    shape("title", {}, title),
    shape("rect", { width, height, fill: ink.ground }),
    text(plotted(title, (width - 2 * MARGIN) / 7.5), MARGIN, MARGIN + 6, { "font-size": 14, "font-weight": 600 }),
    text(placeOf(page), MARGIN, MARGIN + 25, { fill: ink.quiet }),
    shape("image", {
      x: left, y: top, width: viewport.width, height: viewport.height, href: cells.canvas.toDataURL("image/png"), style: { "image-rendering": "pixelated" },
    }),
    shape(
      "g",
      { transform: `translate(${left} ${top})` },
      ...(scene.weight
        ? numbersSeen(viewport, scene.weight, tone).map(({ row, column, text: number, light }) =>
            text(number, viewport.x(column + 0.5), viewport.y(row + 0.5), { "text-anchor": "middle", fill: light ? "#fff" : "#101318" }),
          )
        : []),
      ...clipBars(viewport, scene.lines).map(([x, y, w, h]) => shape("rect", { x, y, width: w, height: h, fill: ink.key })),
      ...[...scene.lines.rows.pinned].map((row) =>
        shape("rect", { x: -2, y: viewport.y(row) - 0.75, width: viewport.width + 4, height: viewport.size + 1, fill: "none", stroke: ink.query, "stroke-width": 1.5 }),
      ),
      ...labels(viewport, gutter, scene.lines, scene.ruler).map(({ text: label, x, y, turned, align, colour, strong }) =>
        text(label, 0, 0, {
          transform: `translate(${x} ${y})${turned ? " rotate(-90)" : ""}`,
          "text-anchor": { left: "start", right: "end", center: "middle" }[align],
          style: { "unicode-bidi": "isolate" },
          fill: ink[colour],
          "font-weight": strong ? 600 : null,
        }),
      ),
    ),
    ...(tone
      ? [
          shape("linearGradient", { id: "ramp" }, ...stops(tone.dark).map(([colour, at]) => shape("stop", { offset: at, "stop-color": colour }))),
          shape("rect", { x: MARGIN, y: under, width: bar, height: 10, fill: "url(#ramp)" }),
          ...legendMarks(tone).map(({ place: at, text: mark }, index, all) =>
            text(mark, MARGIN + at * bar, under + 22, {
              "text-anchor": index === 0 && at < 0.1 ? "start" : index === all.length - 1 ? "end" : "middle", fill: ink.quiet,
            }),
          ),
          text(level ? page.say("matrix.legend.mean", { count: 2 ** level }) : page.say("matrix.legend"), MARGIN, under + 42, { fill: ink.quiet }),
        ]
      : []),
  );
  return new XMLSerializer().serializeToString(root);
};

const plotted = (text, signs) => (text.length > signs ? `${text.slice(0, Math.floor(signs) - 1)}…` : text);

const placeOf = (page) => {
  const { layer, head } = page.state;
  const { trace } = page;
  const one = typeof head === "number" ? page.say("head.one", { head: head + 1 }) : page.say(`head.${head}`, { count: trace.heads });
  return `${trace.model.name} · ${page.say("layer")} ${page.say("layer.of", { layer: layer + 1, count: trace.depth })} · ${typeof head === "number" ? "" : `${page.say("head")}: `}${one}`;
};
