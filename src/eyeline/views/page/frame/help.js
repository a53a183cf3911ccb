// The list of keyboard shortcuts, in a dialog.

import { element } from "../drawing/dom.js";
import { createDialog } from "../drawing/dialog.js";
import { keyTexts } from "../words.js";

/** @type {(line: { keys: string[], text: string }) => HTMLElement} */
const row = ({ keys, text }) =>
  element("div", {}, element("dt", {}, ...keys.map((key) => element("kbd", {}, key))), element("dd", {}, text));

/** The button, and the dialog that it or "?" opens. @param {Framed} page */
export const createHelp = (page) => {
  const dialog = createDialog(page, "help", "keys", () => {
    /** @type {Map<string, { keys: string[], text: string }[]>} */
    const groups = new Map();
    for (const line of keyTexts(page.language)) groups.set(line.view, [...(groups.get(line.view) ?? []), line]);
    return [...groups].map(([view, lines]) => {
      const title = page.say(view === "page" ? "keys.everywhere" : `view.${view}`);
      return element("section", {}, element("h3", {}, title), element("dl", { class: "keys" }, ...lines.map(row)));
    });
  });
  dialog.opener.textContent = "?";
  dialog.opener.setAttribute("aria-keyshortcuts", "?");
  return {
    ...dialog,
    update() {
      dialog.opener.setAttribute("aria-label", page.say("keys"));
      dialog.opener.title = page.say("keys");
    },
  };
};
