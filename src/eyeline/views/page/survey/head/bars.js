// A distribution as bars from zero, on a scale that is stated.

import { element } from "../../drawing/dom.js";
import { onScale } from "../../drawing/labels.js";
import { scaleEnd } from "../../weights/quantity.js";

const MANY = 10; // labels that have room beside each other

/**
 * A chart: its title, what its lengths are, and its bars.
 * @type {(title: string, says: string, bars: RangeBar[], about: string) => HTMLElement}
 */
export const barChart = (title, says, bars, about) => {
  const end = scaleEnd(bars.flatMap(({ share, other }) => [share, other ?? 0])) || 1;
  /** @type {(share: number) => string} */
  const tall = (share) => `${(100 * share) / end}%`;
  // Where many have labels, every second one has room, and 0 is one of them.
  const [every, zero] = [bars.filter(({ label }) => label).length > MANY ? 2 : 1, bars.findIndex(({ label }) => label === "0")];
  /** @type {(at: number) => boolean} */
  const labelled = (at) => (at - Math.max(zero, 0)) % every === 0;
  const columns = bars.map(({ share, label, name, other }, at) =>
    element(
      "div", { class: "bar-column", title: `${name}: ${onScale(share, end)}` },
      element("span", { class: "bar-space" },
        element("span", { class: "bar-rise", style: { height: tall(share) } }),
        other === undefined ? null : element("span", { class: "bar-other", style: { "inset-block-end": tall(other) } })),
      element("span", { class: "bar-label" }, labelled(at) ? label : ""),
    ));
  const strongest = [...bars].sort((one, two) => two.share - one.share).slice(0, 3)
    .filter(({ share }) => share > 0).map(({ share, name }) => `${name}: ${onScale(share, end)}`);
  return element(
    "figure", { class: "bar-chart", style: { "--bars": bars.length } },
    element("figcaption", {}, element("b", {}, title), " ", element("span", { class: "quiet" }, says)),
    element("div", { class: "bar-plot", role: "img", "aria-label": `${title}: ${strongest.join("; ")}` },
      element("div", { class: "bar-scale quiet" }, ...[end, end / 2, 0].map((tick) => element("span", {}, tickSaid(tick)))),
      element("div", { class: "bar-columns" }, ...columns)),
    element("p", { class: "quiet bar-about" }, about),
  );
};

/** @type {(share: number) => string} */
const tickSaid = (share) => (share ? `${Number((100 * share).toFixed(2))}%` : "0");
