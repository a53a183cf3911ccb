// A dialog of the page, with a title, that a button opens.

import { button, element } from "./dom.js";

/**
 * The button, the dialog, and a function that opens it; `title` is a key of words.js, `content` returns the dialog's
 * content.
 * @param {Pick<Framed, "id" | "say">} page
 * @param {string} name
 * @param {string} title
 * @param {() => HTMLElement[]} content
 */
export const createDialog = (page, name, title, content) => {
  const opener = button("", () => open(), { class: "plain", "aria-haspopup": "dialog" });
  const dialog = element("dialog", { class: `sheet ${name}`, "aria-labelledby": `${page.id}-${name}` });
  const open = () => {
    if (dialog.open) return;
    const [close, heading] = [page.say("close"), element("h2", { id: `${page.id}-${name}` }, page.say(title))];
    const cross = button("×", () => dialog.close(), { class: "plain", "aria-label": close, title: close });
    dialog.replaceChildren(element("div", { class: "head" }, heading, cross), ...content());
    dialog.showModal();
  };
  // the page's shortcuts are off while it is open
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // a press beside it
  });
  return { opener, element: dialog, open, close: () => dialog.close() };
};
