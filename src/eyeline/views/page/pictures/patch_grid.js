// An image with its patches as a grid over it: each can be pointed at, focused and picked.

import { contextOf, element, targetOf } from "../drawing/dom.js";

const PALE = 0.55; // of the image's strength, under the colours of numbers

/**
 * The style of a patch: the colour of its number, its marks, its accessible name, and its number among the strongest.
 * @typedef {{ fill: string, kind: string, label: string, rank: number | null }} PatchLook
 */

/**
 * The grid. Patches count from 0, row by row; null is none.
 * @param {{ hover: (patch: number | null) => void, focus: (patch: number | null) => void, pick: (patch: number) => void }} on
 */
export const createPatchGrid = (on) => {
  const canvas = element("canvas", { class: "image", "aria-hidden": "true" });
  const grid = element("div", { class: "patches", role: "grid" });
  const whole = element("div", { class: "picture" }, canvas, grid);
  /** @type {HTMLElement[]} */
  let cells = [];
  let columns = 1;
  /** @type {ImageBitmap | null} */
  let image = null;
  /** @type {boolean | null} */
  let pale = null;

  /** @type {(event: Event) => number | null} */
  const patchAt = (event) => {
    const cell = targetOf(event, ".patch");
    return cell ? Number(cell.dataset.patch) : null;
  };

  /** Lay out the grid, and show the image as soon as it is there. @type {(entry: ImageEntry, label: string) => void} */
  const show = (entry, label) => {
    columns = entry.columns;
    grid.setAttribute("aria-label", label);
    if (cells.length === entry.rows * columns) return;
    cells = Array.from({ length: entry.rows * columns }, (_, patch) =>
      element("div", { class: "patch", role: "gridcell", tabindex: -1, "data-patch": patch }));
    grid.style.gridTemplate = `repeat(${entry.rows}, 1fr) / repeat(${columns}, 1fr)`;
    grid.replaceChildren(
      ...Array.from({ length: entry.rows }, (_, row) =>
        element("div", { class: "patch-row", role: "row" }, ...cells.slice(row * columns, (row + 1) * columns))),
    );
    whole.style.aspectRatio = `${columns} / ${entry.rows}`;
  };

  const draw = () => {
    if (!image) return;
    [canvas.width, canvas.height] = [image.width, image.height];
    const pen = contextOf(canvas);
    pen.fillStyle = getComputedStyle(canvas).getPropertyValue("--ground");
    pen.fillRect(0, 0, image.width, image.height);
    pen.globalAlpha = pale ? PALE : 1;
    pen.drawImage(image, 0, 0);
  };

  /** Show an image under the grid. @type {(bitmap: ImageBitmap) => void} */
  const picture = (bitmap) => {
    image = bitmap;
    whole.style.aspectRatio = `${bitmap.width} / ${bitmap.height}`;
    draw();
  };

  /**
   * Style each patch by `look`; Tab focuses `tabbable`. The image is pale where numbers are shown.
   * @type {(look: (patch: number) => PatchLook, tabbable: number, faded: boolean) => void}
   */
  const paint = (look, tabbable, faded) => {
    cells.forEach((cell, patch) => {
      const { fill, kind, label, rank } = look(patch);
      cell.style.background = fill;
      cell.dataset.kind = kind;
      cell.setAttribute("aria-label", label);
      cell.setAttribute("aria-selected", String(kind.includes("pinned")));
      cell.tabIndex = patch === tabbable ? 0 : -1;
      cell.replaceChildren(...(rank === null ? [] : [element("span", { class: "rank", "aria-hidden": "true" }, rank)]));
    });
    pale = faded;
    draw();
  };

  /** @type {(patch: number) => void} */
  const focus = (patch) => {
    cells.forEach((cell, at) => {
      cell.tabIndex = at === patch ? 0 : -1;
    });
    cells[patch]?.focus();
  };

  grid.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") on.hover(patchAt(event));
  });
  grid.addEventListener("pointerleave", () => on.hover(null));
  grid.addEventListener("focusin", (event) => {
    if (targetOf(event)?.matches(":focus-visible")) on.focus(patchAt(event));
  });
  grid.addEventListener("focusout", () => on.focus(null));
  grid.addEventListener("click", (event) => {
    const patch = patchAt(event);
    if (patch !== null) on.pick(patch);
  });
  grid.addEventListener("keydown", (event) => {
    const here = patchAt(event);
    if (here === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const column = here % columns;
    /** @type {Record<string, number>} */
    const moves = {
      ArrowRight: column < columns - 1 ? here + 1 : here, ArrowLeft: column ? here - 1 : here,
      ArrowDown: here + columns, ArrowUp: here - columns, Home: here - column, End: here - column + columns - 1,
    };
    if (event.key === "Enter" || event.key === " ") on.pick(here);
    else if (!(event.key in moves)) return;
    else if (cells[moves[event.key]]) focus(moves[event.key]);
    event.preventDefault();
  });
  return { element: whole, show, picture, paint, focus };
};
