// Canvases that are drawn again, in the screen's own dots, whenever their size changes.

import { element } from "./dom.js";

/** Makes canvases and draws them. */
export class Canvases {
  constructor() {
    this.drawn = new Map();
    this.observer = new ResizeObserver((entries) => entries.forEach(({ target }) => this.paint(target)));
  }

  /** A canvas; `draw` is called with its context and size, in CSS pixels, and how many dots one of these has. */
  add(attributes, draw) {
    const canvas = element("canvas", attributes);
    this.drawn.set(canvas, draw);
    this.observer.observe(canvas);
    return canvas;
  }

  /** Draw one again. */
  paint(canvas) {
    const [width, height, dots] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
    if (!width || !height || !this.drawn.has(canvas)) return;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    const context = canvas.getContext("2d");
    context.setTransform(dots, 0, 0, dots, 0, 0);
    this.drawn.get(canvas)(context, width, height, dots);
  }

  /** Forget all canvases that are no longer in the page. */
  sweep() {
    for (const canvas of this.drawn.keys()) {
      if (canvas.isConnected) continue;
      this.observer.unobserve(canvas);
      this.drawn.delete(canvas);
    }
  }

  /** Forget all. */
  clear() {
    this.observer.disconnect();
    this.drawn.clear();
  }
}
