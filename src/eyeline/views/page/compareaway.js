// What is taken away of the compare view: its numbers as a table, and a picture of it.

import { shape } from "./dom.js";
import { colourOf } from "./grids.js";
import { figure, labelled, percent } from "./labels.js";

/**
 * All numbers: for each word or pair of words, whom the chosen words look at (weights, and shares of what goes to the
 * words shown); then, for each row of the pictures, its weights on either side, and their difference.
 */
export const numbersOfCompare = ({ sides, pairs, same, drawn }) => {
  const columns = ["what", "query", "query_second", "key", "key_second", "first", "second", "difference", "share_first", "share_second", "share_difference"];
  const text = (unit) => unit?.text ?? null;
  const less = (one, two) => (one === null || two === null ? null : two - one);
  const [first, second] = sides;
  const of = (list, unit) => (unit ? list[unit.index] : null);
  const looks = pairs.map(([a, b, alike]) => {
    const [one, two, shareOne, shareTwo] = [of(first.row, a), of(second.row, b), of(first.share, a), of(second.share, b)];
    const differences = alike ? [less(one, two), less(shareOne, shareTwo)] : [null, null];
    return ["looks", first.unit.text, second.unit.text, text(a), text(b), one, two, differences[0], shareOne, shareTwo, differences[1]];
  });
  const cells = (patch, say) =>
    patch.rows.flatMap((i, r) => patch.columns.map((j, c) => say(patch.queries[i].text, patch.keys[j].text, r * patch.columns.length + c)));
  const [one, two] = drawn.map(({ patch }) => patch);
  const rest = [null, null, null];
  const pictures = same
    ? cells(one, (query, key, at) => ["picture", query, query, key, key, one.weights[at], two.weights[at], two.weights[at] - one.weights[at], ...rest])
    : [
        ...cells(one, (query, key, at) => ["picture", query, null, key, null, one.weights[at], null, null, ...rest]),
        ...cells(two, (query, key, at) => ["picture", null, query, null, key, null, two.weights[at], null, ...rest]),
      ];
  return { name: "compare", columns, rows: [...looks, ...pictures] };
};

const [WIDE, ROW] = [1080, 24];
const DOTS = 8; // of a cell of a picture
const DRAWN = 1024; // cells of a picture up to which each is a rectangle

// A picture of many words as an image: its rectangles would be tens of thousands.
const imageOf = ({ patch, most, signed }, dark, colour) => {
  const [rows, columns] = [patch.rows.length, patch.columns.length];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns * DOTS, rows * DOTS];
  const context = canvas.getContext("2d");
  for (let at = 0; at < rows * columns; at++) {
    context.fillStyle = patch.hidden[at] ? colour("--hidden") : colourOf(patch, at, most, dark, signed);
    context.fillRect((at % columns) * DOTS, Math.floor(at / columns) * DOTS, DOTS, DOTS);
  }
  return canvas.toDataURL("image/png");
};

const pictureOf = (one, { x, y, cell, dark, colour }) => {
  const { patch, most, signed } = one;
  const [rows, columns] = [patch.rows.length, patch.columns.length];
  if (rows * columns > DRAWN) {
    return [shape("image", { x, y, width: cell * columns, height: cell * rows, href: imageOf(one, dark, colour), preserveAspectRatio: "none" })];
  }
  return Array.from(patch.weights, (_, at) => {
    const [left, top] = [x + (at % columns) * cell, y + Math.floor(at / columns) * cell];
    const fill = patch.hidden[at] ? colour("--hidden") : colourOf(patch, at, most, dark, signed);
    const side = cell - (cell >= 9 ? 1 : 0);
    const hatch = patch.hidden[at] ? shape("path", { d: `M${left} ${top + side}l${side} ${-side}`, stroke: colour("--hatch") }) : null;
    return [shape("rect", { x: left, y: top, width: side, height: side, fill }), hatch];
  }).flat().filter(Boolean);
};

// A text in lines of about so many letters.
const wrapped = (text, count) => {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= count) lines.push("");
    lines[lines.length - 1] += `${lines.at(-1) ? " " : ""}${word}`;
  }
  return lines;
};

const cut = (text, count) => {
  const letters = Array.from(text);
  return letters.length > count ? `${letters.slice(0, count - 1).join("")}…` : text;
};

/** The view as it stands, as an SVG that needs nothing else. @param lines its sentences; @param pairs those shown */
export const pictureOfCompare = (page, found, { lines, pairs, names, colour, inPoints }) => {
  const { sides, drawn } = found;
  const parts = [];
  let y = 26;
  const text = (x, words, { kind = "--text", size = 14, anchor = "start", weight = 400, at = y, turned } = {}) =>
    parts.push(shape("text", {
      x, y: at, fill: colour(kind), "font-size": size, "text-anchor": anchor, "font-weight": weight, transform: turned && `rotate(-90 ${x} ${at})`,
    }, words));
  const box = (x, top, width, height, fill) => parts.push(shape("rect", { x, y: top, width: Number(Math.max(width, 0).toFixed(2)), height, fill }));
  const placed = (side, nth) => {
    const [, layer, head] = side.place;
    const named = typeof head === "number" ? page.say("head.one", { head: head + 1 }) : page.say(`head.${head}`, { count: side.trace.heads });
    return `${names[nth]}: ${cut(page.called(side.trace), 80)} · ${page.say("layer")} ${layer + 1}, ${named}`;
  };
  lines.forEach((line, nth) => {
    for (const part of wrapped(cut(line, 600), nth ? 150 : 100)) {
      text(0, part, nth ? { kind: "--quiet", size: 13 } : { size: 18, weight: 600 });
      y += nth ? 20 : 26;
    }
  });
  sides.forEach((side, nth) => {
    text(0, placed(side, nth), { kind: "--quiet", size: 13 });
    y += 20;
  });
  y += 14;
  const ceiling = Math.max(...sides.flatMap((side) => side.shown.map((at) => side.share[at])), 1e-9);
  const [left, right, room] = [400, 600, 340];
  for (const [a, b, alike] of pairs) {
    const bar = (unit, side, mirrored) => {
      const value = side.share[unit.index];
      const wide = (room * value) / ceiling;
      box(mirrored ? left - wide : right, y - 11, wide, 13, colour("--weight"));
      const open = value > 0 || side.sight.allowed(side.unit.index, unit.index);
      text(mirrored ? left - wide - 8 : right + wide + 8, open ? percent(value) : page.say("compare.hidden"), { kind: "--weight", size: 12.5, anchor: mirrored ? "end" : "start" });
    };
    if (a) bar(a, sides[0], true);
    if (b) bar(b, sides[1], false);
    if (alike) {
      const difference = sides[1].share[b.index] - sides[0].share[a.index];
      text(500, cut(labelled(a), 22), { kind: "--key", anchor: "middle" });
      text(WIDE, inPoints(difference), { size: 12.5, anchor: "end" });
    } else {
      if (a) text(494, cut(labelled(a), 12), { kind: "--key", anchor: "end" });
      if (b) text(506, cut(labelled(b), 12), { kind: "--key" });
    }
    y += ROW;
  }
  y += 30;
  const wide = (WIDE - 40 * (drawn.length - 1)) / drawn.length;
  let low = y;
  drawn.forEach((one, nth) => {
    const { patch } = one;
    const [rows, columns] = [patch.rows.length, patch.columns.length];
    const named = rows <= 28 && columns <= 28;
    const [x, top] = [nth * (wide + 40) + (named ? 80 : 0), y + (named ? 88 : 14)];
    const cell = Math.min((wide - (named ? 80 : 0)) / columns, 52);
    text(nth * (wide + 40), `${one.name}: ${figure(one.signed ? -one.most : 0, 3)} – ${figure(one.most, 3)}`, { kind: "--quiet", size: 13 });
    parts.push(...pictureOf(one, { x, y: top, cell, dark: page.dark, colour }));
    if (named) {
      patch.rows.forEach((index, r) => text(x - 6, cut(labelled(patch.queries[index]), 11), { kind: "--quiet", size: 12, anchor: "end", at: top + (r + 0.5) * cell + 4 }));
      patch.columns.forEach((index, c) => text(x + (c + 0.5) * cell + 4, cut(labelled(patch.keys[index]), 10), { kind: "--quiet", size: 12, at: top - 6, turned: true }));
    }
    low = Math.max(low, top + cell * rows);
  });
  const [width, height] = [WIDE + 40, Math.round(low) + 40];
  const svg = shape(
    "svg",
    { viewBox: `-20 -10 ${width} ${height}`, width, height, "font-family": "system-ui, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif" },
    shape("rect", { x: -20, y: -10, width, height, fill: colour("--ground") }),
    parts,
  );
  return new XMLSerializer().serializeToString(svg);
};
