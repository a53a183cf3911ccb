// Two pens with the same strokes: one draws on a canvas, the other writes an SVG text.

import { escaped } from "../../drawing/svg.js";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif";

/** The opacity of what fades. */
const FADED = 0.16;

/** @type {(context: CanvasRenderingContext2D) => MapPen} */
export const canvasPen = (context) => {
  /** @type {Map<string, Path2D>} A large model has thousands of cells, with the same few signs. */
  const paths = new Map();
  /** @type {(faded: boolean | undefined, draw: () => void) => void} */
  const drawn = (faded, draw) => {
    context.globalAlpha = faded ? FADED : 1;
    draw();
    context.globalAlpha = 1;
  };
  return {
    box: (x, y, width, height, fill, faded) => drawn(faded, () => {
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
    }),
    frame(x, y, width, height, colour) {
      [context.strokeStyle, context.lineWidth] = [colour, 1];
      context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    },
    lines: (d, x, y, size, colour, faded) => drawn(faded, () => {
      context.save();
      context.translate(x, y);
      context.scale(size / 16, size / 16);
      [context.strokeStyle, context.lineWidth, context.lineCap, context.lineJoin] = [colour, 1.8, "round", "round"];
      const path = paths.get(d) ?? new Path2D(d);
      paths.set(d, path);
      context.stroke(path);
      context.restore();
    }),
    text: (text, x, y, { size, fill, anchor = "start", bold, faded }) => drawn(faded, () => {
      context.font = `${bold ? 600 : 400} ${size}px ${FONT}`;
      context.fillStyle = fill;
      context.textAlign = anchor === "middle" ? "center" : anchor === "end" ? "right" : "left";
      context.fillText(text, x, y);
    }),
  };
};

/** The pen that writes; `parts` are the elements that it wrote. @type {() => MapPen & { parts: string[] }} */
export const svgPen = () => {
  /** @type {string[]} */
  const parts = [];
  /** @type {(value: number) => number} */
  const round = (value) => Number(value.toFixed(2));
  /** @type {(faded: boolean | undefined) => string} */
  const opacity = (faded) => (faded ? ` opacity="${FADED}"` : "");
  /** @type {(x: number, y: number, width: number, height: number) => string} */
  const area = (x, y, width, height) =>
    `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
  return {
    parts,
    box(x, y, width, height, fill, faded) {
      parts.push(`<rect ${area(x, y, width, height)} fill="${fill}"${opacity(faded)}/>`);
    },
    frame(x, y, width, height, colour) {
      parts.push(`<rect ${area(x + 0.5, y + 0.5, width - 1, height - 1)} fill="none" stroke="${colour}"/>`);
    },
    lines(d, x, y, size, colour, faded) {
      const place = `translate(${round(x)} ${round(y)}) scale(${round(size / 16)})`;
      parts.push(
        `<path d="${d}" transform="${place}" fill="none" stroke="${colour}" stroke-width="1.8" ` +
          `stroke-linecap="round" stroke-linejoin="round"${opacity(faded)}/>`,
      );
    },
    text(text, x, y, { size, fill, anchor = "start", bold, faded }) {
      const look = `font-family="${FONT}" font-size="${size}"${bold ? ' font-weight="600"' : ""} text-anchor="${anchor}"`;
      parts.push(`<text x="${round(x)}" y="${round(y)}" ${look} fill="${fill}"${opacity(faded)}>${escaped(text)}</text>`);
    },
  };
};
