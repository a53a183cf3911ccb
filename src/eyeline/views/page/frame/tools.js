// What concerns the page as a whole: save and share, the keys, the language and the theme.

import { choice, element } from "../drawing/dom.js";
import { createExport } from "../export/export.js";
import { createHelp } from "./help.js";
import { relabelled } from "../pickers.js";
import { LANGUAGES } from "../words.js";

/**
 * The row of tools; `view` returns the current view.
 * @type {(page: Framed, view: () => Pick<View, "numbers" | "picture">) => PagePart & { help: { open(): void } }}
 */
export const createTools = (page, view) => {
  const choices = element("span", { class: "choosers" });
  const [exporter, help] = [createExport(page, view), createHelp(page)];
  let drawn = "";
  const update = () => {
    const now = [page.language, page.state.theme].join(" ");
    if (now === drawn) return;
    drawn = now;
    /** @type {(name: string, list: HTMLElement) => HTMLElement} */
    const titled = (name, list) => {
      list.title = page.say(name);
      return list;
    };
    relabelled(choices, [
      titled("language", choice(page.say("language"), LANGUAGES, page.language, (code) =>
        page.set({ language: code }),
      )),
      titled("theme", choice(
        page.say("theme"),
        [["", page.say("theme.own")], ["light", page.say("theme.light")], ["dark", page.say("theme.dark")]],
        page.state.theme ?? "",
        (theme) => page.set({ theme: theme === "light" || theme === "dark" ? theme : null }),
      )),
    ]);
    exporter.update();
    help.update();
  };
  const row = element("div", { class: "tools" }, exporter.opener, help.opener, choices, exporter.element, help.element);
  return { element: row, update, help };
};
