// The host of a file of texts: its weights are computed here, so without WebAssembly the still picture stays.

import { element } from "../drawing/dom.js";
import { pageKernel } from "../kernel/page_kernel.js";
import { ownLanguage } from "../language.js";
import { worded } from "../words.js";
import { show, still } from "./file.js";

/**
 * Show the page in this file, if it can compute; `rooms` are what it has beside the views, `modelOf` makes its model
 * object. Returns that; null if it can't.
 * @template {FileModel} T
 * @param {Main} main
 * @param {Rooms} [rooms]
 * @param {(header: Header, contents: any) => T} [modelOf]
 */
export const showText = async (main, rooms, modelOf) => {
  try {
    await pageKernel();
  } catch {
    const picture = still();
    const lang = ownLanguage();
    const reason = element("p", { role: "alert", lang }, worded(lang, "kernel.forbidden"));
    const given = picture?.querySelector("section > p:last-of-type"); // that no script runs
    if (given) given.replaceWith(reason);
    else picture?.append(reason);
    if (picture) picture.hidden = false;
    return null;
  }
  return show(main, rooms, modelOf);
};

/** Show the page in this file. @type {(main: Main) => Promise<void>} */
export const start = async (main) => {
  await showText(main);
};
