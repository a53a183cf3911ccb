// The edits to take along: as options of a command, and as Python.

import { button, element } from "../drawing/dom.js";
import { createDropdown } from "../frame/dropdown.js";
import { asOptions, asPython } from "./edit_words.js";

/** @type {(page: Page, editing: Editing) => PagePart} */
export const createTaking = (page, editing) => {
  const { element: details, summary, panel } = createDropdown();
  details.classList.add("edit-taking");
  /** @type {(key: string, text: string) => HTMLElement} */
  const part = (key, text) => {
    const shown = element("pre", { tabindex: 0, "aria-label": page.say(key) }, element("code", {}, text));
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(text);
        page.announce(page.say("editing.copied"));
        press.textContent = page.say("editing.copied");
      } catch {
        getSelection()?.selectAllChildren(shown); // without the right to copy, the reader does it
      }
    };
    const press = button(page.say(key), copy, { class: "plain", "data-focus": key });
    return element("div", { class: "edit-copy" }, press, shown);
  };
  let drawn = "";
  const update = () => {
    const { base } = editing;
    summary.textContent = page.say("editing.take");
    const now = JSON.stringify([base?.serial, page.state.edits, page.language]);
    if (!base || now === drawn) return;
    drawn = now;
    panel.replaceChildren(
      part("editing.copy.options", asOptions(page.state.edits)),
      part("editing.copy.python", asPython(base, page.state.edits)),
      element("p", { class: "quiet" }, page.say("editing.link")),
    );
  };
  return { element: details, update };
};
