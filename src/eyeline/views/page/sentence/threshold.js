// The slider for the smallest share whose link is drawn.

import { element } from "../drawing/dom.js";

const STOPS = [0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5];

/** @type {(share: number) => string} */
const written = (share) => `${Number((share * 100).toFixed(1))}%`;

/** A slider for `state.threshold`, with finer steps for small shares. @param {Page} page */
export const createThreshold = (page) => {
  const id = `${page.id}-threshold`;
  const slider = element("input", { type: "range", min: 0, max: STOPS.length - 1, step: 1, id });
  const value = element("output", { for: slider.id });
  slider.addEventListener("input", () => page.set({ threshold: STOPS[Number(slider.value)] }));
  const caption = element("label", { class: "caption", for: slider.id });
  const update = () => {
    const { threshold } = page.state;
    const away = STOPS.map((stop) => Math.abs(stop - threshold));
    caption.textContent = page.say("threshold");
    slider.value = String(away.indexOf(Math.min(...away)));
    value.value = threshold ? written(threshold) : page.say("threshold.all");
    slider.setAttribute("aria-valuetext", value.value);
  };
  return { element: element("span", { class: "threshold" }, caption, slider, value), update };
};
