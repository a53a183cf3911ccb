// All keys of the page, in a dialog.

import { button, element } from "./dom.js";
import { keyTexts } from "./words.js";

/** The button, and the dialog that it or "?" opens. */
export const createHelp = (page) => {
  const opener = button("?", () => open(), { class: "plain", "aria-haspopup": "dialog", "aria-keyshortcuts": "?" });
  const dialog = element("dialog", { class: "sheet", "aria-labelledby": `${page.id}-help` });
  const open = () => {
    const groups = new Map();
    for (const line of keyTexts(page.language)) groups.set(line.view, [...(groups.get(line.view) ?? []), line]);
    dialog.replaceChildren(
      element(
        "div",
        { class: "head" },
        element("h2", { id: `${page.id}-help` }, page.say("keys")),
        button("×", () => dialog.close(), { class: "plain", "aria-label": page.say("close"), title: page.say("close") }),
      ),
      ...[...groups].map(([view, lines]) =>
        element(
          "section",
          {},
          element("h3", {}, view === "page" ? page.say("keys.everywhere") : page.say(`view.${view}`)),
          element("dl", { class: "keys" }, ...lines.map(({ keys, text }) => element("div", {}, element("dt", {}, ...keys.map((key) => element("kbd", {}, key))), element("dd", {}, text)))),
        ),
      ),
    );
    if (!dialog.open) dialog.showModal();
  };
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return {
    opener,
    element: dialog,
    open,
    update() {
      opener.setAttribute("aria-label", page.say("keys"));
      opener.title = page.say("keys");
    },
  };
};
