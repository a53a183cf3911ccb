// Links between words: from the word that is seen to the word that looks, in the room above the lines of text.

import { shape } from "../drawing/dom.js";
import { arc, crossing, ribbon, route } from "./ribbons.js";

const BESIDE = 48; // pixels at the edge of a text in several lines, for links between lines: its padding in the style
const BENEATH = 28; // pixels under a line for the numbers
const APART = 4; // pixels between two ways
const MARGIN = 6; // pixels from the edge of the text to the first way beside it

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Sides */
/** A link: `seen` is wide, `looker` a point; its number as a share of the scale. */
/** @typedef {{ at: number, seen: HTMLElement, looker: HTMLElement, share: number, faded: boolean }} Link */

/** @type {(box: Sides) => number} */
const middle = (box) => (box.left + box.right) / 2;

/** @type {(span: Element, origin: DOMRect) => Sides} */
const boxOf = (span, origin) => {
  const { left, right, top, bottom } = span.getClientRects()[0] ?? span.getBoundingClientRect();
  return {
    left: left - origin.left, right: right - origin.left, top: top - origin.top, bottom: bottom - origin.top,
  };
};

/**
 * The lines of text that boxes stand in: the top and the bottom of each, from above.
 * @type {(boxes: Sides[]) => { top: number, bottom: number }[]}
 */
const linesOf = (boxes) => {
  /** @type {{ top: number, bottom: number }[]} */
  const lines = [];
  for (const { top, bottom } of [...boxes].sort((one, other) => one.top - other.top)) {
    const last = lines.at(-1);
    if (last && top < (last.top + last.bottom) / 2) last.bottom = Math.max(last.bottom, bottom);
    else lines.push({ top, bottom });
  }
  return lines;
};

/**
 * Where each link begins on the word that it shares with the others: side by side, in the order of their other ends.
 * @type {(box: Sides, links: { other: number, width: number }[]) => number[]}
 */
const spread = (box, links) => {
  const total = links.reduce((sum, { width }) => sum + width, 0);
  const scale = Math.min(1, (0.9 * (box.right - box.left)) / (total || 1));
  /** @type {number[]} */
  const places = [];
  let x = middle(box) - (scale * total) / 2;
  for (const at of [...links.keys()].sort((one, two) => links[one].other - links[two].other)) {
    places[at] = x + (scale * links[at].width) / 2;
    x += scale * links[at].width;
  }
  return places;
};

/** A layer of links over `stage`, to be redrawn when its size changes. @param {HTMLElement} stage */
export const createLinks = (stage) => {
  const layer = shape("svg", { class: "links", "aria-hidden": "true", focusable: "false" });

  /**
   * Lay links out, the widest `width` pixels wide at the scale's end; `all` are the elements of all words, `crossed` says
   * whether the two ends are of two texts, `fromRight` whether the text begins at the right. Returns what draws them: others
   * may measure the page before it changes.
   * @type {(links: Link[], all: Iterable<HTMLElement>, width: number, crossed: boolean, fromRight: boolean) => () => void}
   */
  const laid = (links, all, width, crossed, fromRight) => {
    const origin = stage.getBoundingClientRect();
    const lines = links.length ? linesOf([...all].map((span) => boxOf(span, origin))) : [];
    /** @type {(box: Sides) => number} */
    const lineOf = (box) => Math.max(lines.findIndex(({ bottom }) => box.top < bottom - 1), 0);
    /** The room above a line of text. @type {(line: number) => { top: number, bottom: number }} */
    const above = (line) => ({ top: line ? lines[line - 1].bottom + BENEATH : 4, bottom: lines[line].top - 2 });
    const ends = links.map(({ seen, looker, share }) => {
      const [from, to] = [boxOf(seen, origin), boxOf(looker, origin)];
      return { from, to, width: width * share };
    });
    const shared = new Set(links.map(({ seen }) => seen)).size === 1;
    const begins = shared
      ? spread(ends[0]?.from ?? { left: 0, right: 0, top: 0, bottom: 0 },
        ends.map(({ to, width: wide }) => ({ other: middle(to), width: wide })))
      : ends.map(({ from }) => middle(from));
    // The ways of links to other lines lie side by side, in the room above lines and at the text's edge.
    const routed = ends.filter(({ from, to }) => !crossed && lineOf(from) !== lineOf(to));
    const needed = routed.reduce((sum, { width: wide }) => sum + wide + APART, 0);
    let taken = 0;
    const paths = ends.map(({ from, to, width: wide }, at) => {
      const [x, tip] = [begins[at], middle(to)];
      if (crossed && lines.length === 2) {
        return from.top > to.top ? crossing([x, from.top - 2], [tip, to.bottom + 3])
          : crossing([x, from.bottom + 2], [tip, to.top - 3]);
      }
      const [line, other] = [lineOf(from), lineOf(to)];
      const [room, arrival] = [above(line), above(other)];
      if (line === other) {
        const high = room.bottom - room.top - 6;
        if (from.left === to.left) {
          const aside = Math.min(0.2 * (from.right - from.left), 0.3 * high);
          return arc([tip - aside, room.bottom], [tip + aside, room.bottom], 0.3 * high);
        }
        const away = Math.abs(tip - x) / Math.max(stage.clientWidth, 1);
        return arc([x, room.bottom], [tip, room.bottom], high * (0.26 + 0.74 * Math.sqrt(Math.min(away, 1))));
      }
      const aside = taken + (wide + APART) / 2;
      taken += wide + APART;
      /** @type {(gap: { top: number, bottom: number }) => number} */
      const lane = (gap) => gap.bottom - 6 - aside * Math.min(1, (gap.bottom - gap.top - 8) / needed);
      const edge = MARGIN + aside * Math.min(1, (BESIDE - 2 * MARGIN) / needed);
      const margin = fromRight ? stage.clientWidth - edge : edge;
      const [out, back] = [lane(room), lane(arrival)];
      return route([[x, room.bottom], [x, out], [margin, out], [margin, back], [tip, back], [tip, arrival.bottom]]);
    });
    const fill = getComputedStyle(stage).getPropertyValue("--weight");
    return () => layer.replaceChildren(
      ...paths.map((points, at) =>
        shape("path", {
          d: ribbon(points, ends[at].width),
          class: links[at].faded ? "faded" : null,
          fill,
          "fill-opacity": links[at].faded ? 0.12 : 0.55,
          "data-unit": links[at].at,
        }),
      ),
    );
  };
  return { element: layer, laid };
};
