// All keys of the page, in a dialog.

import { element } from "./drawing/dom.js";
import { createDialog } from "./drawing/dialog.js";
import { keyTexts } from "./words.js";

const row = ({ keys, text }) =>
  element("div", {}, element("dt", {}, ...keys.map((key) => element("kbd", {}, key))), element("dd", {}, text));

/** The button, and the dialog that it or "?" opens. */
export const createHelp = (page) => {
  const sheet = createDialog(page, "help", "keys", () => {
    const groups = new Map();
    for (const line of keyTexts(page.language)) groups.set(line.view, [...(groups.get(line.view) ?? []), line]);
    return [...groups].map(([view, lines]) => {
      const title = page.say(view === "page" ? "keys.everywhere" : `view.${view}`);
      return element("section", {}, element("h3", {}, title), element("dl", { class: "keys" }, ...lines.map(row)));
    });
  });
  sheet.opener.textContent = "?";
  sheet.opener.setAttribute("aria-keyshortcuts", "?");
  return {
    ...sheet,
    update() {
      sheet.opener.setAttribute("aria-label", page.say("keys"));
      sheet.opener.title = page.say("keys");
    },
  };
};
