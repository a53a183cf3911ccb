// Pointer and wheel gestures on a canvas: pan, zoom, point, press.

const STILL = 4; // pixels that the pointer may move during a press

/**
 * Listen on a canvas. Coordinates are CSS pixels from its corner; `rest` is called when a movement ends. Returns a
 * function that stops listening.
 * @param {HTMLCanvasElement} canvas
 * @param {{
 *   pan: (x: number, y: number) => void, zoom: (factor: number, x: number, y: number) => void,
 *   point: (x: number, y: number) => void, leave: () => void, press: (x: number, y: number) => void, rest: () => void,
 * }} on
 */
export const gestures = (canvas, on) => {
  /** @type {Map<number, [x: number, y: number]>} The pressed pointers and their positions. */
  const down = new Map();
  let moved = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} The timer that ends a movement of the wheel. */
  let turning;
  /** @type {(event: MouseEvent) => [x: number, y: number]} */
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [[a, b], [c, d]] = [...down.values()];
    return { far: Math.hypot(a - c, b - d), x: (a + c) / 2, y: (b + d) / 2 };
  };
  const listeners = {
    /** @param {PointerEvent} event */
    pointerdown(event) {
      if (event.button > 0) return;
      if (!down.size) moved = 0;
      down.set(event.pointerId, place(event));
    },
    /** @param {PointerEvent} event */
    pointermove(event) {
      const now = place(event);
      const before = down.get(event.pointerId);
      if (!before) {
        if (event.pointerType !== "touch") on.point(...now);
        return;
      }
      if (down.size === 2) {
        const old = spread();
        down.set(event.pointerId, now);
        const fresh = spread();
        moved = Infinity;
        on.pan(fresh.x - old.x, fresh.y - old.y);
        on.zoom(fresh.far / Math.max(old.far, 1), fresh.x, fresh.y);
        return;
      }
      const way = Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (moved + way <= STILL) return;
      if (moved <= STILL) canvas.setPointerCapture(event.pointerId);
      moved = Infinity;
      down.set(event.pointerId, now);
      canvas.dataset.dragged = "";
      on.pan(now[0] - before[0], now[1] - before[1]);
    },
    /** @param {PointerEvent} event */
    pointerup(event) {
      if (!down.delete(event.pointerId)) return;
      if (moved <= STILL) on.press(...place(event));
      delete canvas.dataset.dragged;
      if (!down.size) on.rest();
    },
    /** @param {PointerEvent} event */
    pointercancel(event) {
      down.delete(event.pointerId);
      delete canvas.dataset.dragged;
      if (!down.size) on.rest();
    },
    /** @param {PointerEvent} event */
    pointerleave(event) {
      if (!down.size && event.pointerType !== "touch") on.leave();
    },
    /** @param {WheelEvent} event */
    wheel(event) {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
      on.zoom(Math.exp(-Math.min(Math.max(pixels, -200), 200) / 240), ...place(event));
      clearTimeout(turning);
      turning = setTimeout(on.rest, 160);
    },
  };
  const all = /** @type {[string, EventListener][]} */ (Object.entries(listeners));
  for (const [name, listener] of all) canvas.addEventListener(name, listener, { passive: false });
  return () => {
    clearTimeout(turning);
    for (const [name, listener] of all) canvas.removeEventListener(name, listener);
  };
};
