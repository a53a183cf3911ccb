// The keyboard of a matrix: arrow keys move the cell cursor, and the viewport follows.

/** Handle a key pressed on the canvas of a matrix. @type {(matrix: Matrix, event: KeyboardEvent) => void} */
export const onMatrixKey = (matrix, event) => {
  const { viewport, at } = matrix;
  if (event.altKey || event.metaKey || !matrix.cells) return;
  const { seen } = viewport;
  const here = at ?? { row: seen.top, column: seen.left };
  /** @type {(row: number, column: number) => void} */
  const to = (row, column) => {
    /** @type {(place: number, count: number) => number} */
    const bounded = (place, count) => Math.min(Math.max(place, 0), count - 1);
    // The first of these keys only shows the cursor.
    matrix.point(at ? { row: bounded(row, viewport.rows), column: bounded(column, viewport.columns) } : here, true);
    matrix.rest();
  };
  const far = event.shiftKey ? 10 : 1;
  const page = Math.max(Math.floor(viewport.height / viewport.size) - 1, 1);
  /** @type {(factor: number) => void} */
  const nearer = (factor) =>
    at ? matrix.zoom(factor, viewport.x(at.column + 0.5), viewport.y(at.row + 0.5)) : matrix.zoom(factor);
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowUp: () => to(here.row - far, here.column),
    ArrowDown: () => to(here.row + far, here.column),
    ArrowLeft: () => to(here.row, here.column - far),
    ArrowRight: () => to(here.row, here.column + far),
    PageUp: () => to(here.row - page, here.column),
    PageDown: () => to(here.row + page, here.column),
    Home: () => to(event.ctrlKey ? 0 : here.row, 0),
    End: () => to(event.ctrlKey ? viewport.rows - 1 : here.row, viewport.columns - 1),
    Enter: () => void (at && matrix.pin(at.row)),
    " ": () => void (at && matrix.pin(at.row)),
    c: () => void (at && matrix.clip(at.column)),
    Escape: () => matrix.point(null),
    "+": () => nearer(1.5),
    "=": () => nearer(1.5),
    "-": () => nearer(1 / 1.5),
    _: () => nearer(1 / 1.5),
    0: () => matrix.fit(),
  };
  const done = keys[event.key];
  if (!done || (event.ctrlKey && !["Home", "End"].includes(event.key))) return;
  event.preventDefault();
  event.stopPropagation();
  done();
};
