// The sentence view: a text, or for a trace of an image its patches.

import { element } from "../drawing/dom.js";
import { createPictures } from "../pictures/pictures.js";
import { createTextView } from "./text_view.js";

/** The view. @type {(page: Page) => View} */
export const createSentence = (page) => {
  const whole = element("div", {});
  /** @type {{ ofImage: boolean, view: View } | null} */
  let part = null;
  /** The view of the current trace. */
  const view = () => {
    const ofImage = page.trace.image !== null;
    if (part?.ofImage === ofImage) return part.view;
    part?.view.destroy();
    part = { ofImage, view: (ofImage ? createPictures : createTextView)(page) };
    whole.replaceChildren(part.view.element);
    return part.view;
  };
  return {
    element: whole,
    get controls() {
      return view().controls;
    },
    get uses() {
      return view().uses;
    },
    sentence: () => view().sentence?.() ?? "",
    update: () => view().update(),
    numbers: () => view().numbers(),
    picture: () => view().picture(),
    destroy: () => part?.view.destroy(),
  };
};
