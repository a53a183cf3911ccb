// Canvases that are redrawn at the screen's resolution whenever their size changes.

import { contextOf, element } from "./dom.js";

/** Makes canvases and draws them. */
export class Canvases {
  constructor() {
    /** @type {Map<Element, Draw>} */
    this.drawn = new Map();
    this.observer = new ResizeObserver((entries) => entries.forEach(({ target }) => this.paint(target)));
  }

  /**
   * A canvas; `draw` is called with its context, its size in CSS pixels, and the device pixels per CSS pixel.
   * @param {Attributes} attributes
   * @param {Draw} draw
   */
  add(attributes, draw) {
    const canvas = element("canvas", attributes);
    this.drawn.set(canvas, draw);
    this.observer.observe(canvas);
    return canvas;
  }

  /** Draw one again. @param {Element} canvas */
  paint(canvas) {
    const [width, height, dots] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
    const draw = this.drawn.get(canvas);
    if (!width || !height || !draw || !(canvas instanceof HTMLCanvasElement)) return;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    const context = contextOf(canvas);
    context.setTransform(dots, 0, 0, dots, 0, 0);
    draw(context, width, height, dots);
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
