// Taking away what is seen: pictures, numbers, and words that bring it back.

import { button, element } from "../drawing/dom.js";
import { csv, download, fileName, json, png, sound } from "./formats.js";
import { createDialog } from "../drawing/dialog.js";
import { settingsOf, wordsIn } from "../state.js";

const ofText = (kind, text) => new Blob([text], { type: `${kind};charset=utf-8` });

/** The button, and the dialog that it opens. `view` gives the view that is shown. */
export const createExport = (page, view) => {
  const status = element("p", { class: "status", role: "status" });
  const tell = (key, values) => {
    status.textContent = key ? page.say(key, values) : "";
  };
  const make = async (kind) => {
    if (kind === "csv" || kind === "json") {
      const numbers = await view().numbers();
      return kind === "csv" ? ofText("text/csv", csv(numbers)) : ofText("application/json", json(page, numbers));
    }
    const svg = sound(await view().picture());
    return kind === "svg" ? ofText("image/svg+xml", svg) : png(svg);
  };
  const keep = async (kind) => {
    tell("export.making");
    try {
      const name = fileName(page, kind);
      download(name, await make(kind));
      tell("export.kept", { name });
    } catch (error) {
      tell("failed", { reason: error.message });
    }
  };
  const copy = async (box) => {
    try {
      await navigator.clipboard.writeText(box.value);
      tell("export.copied");
    } catch {
      box.focus();
      box.select();
      tell("export.refused");
    }
  };
  const restore = (box) => {
    const words = wordsIn(box.value);
    if (!Object.keys(settingsOf(words)).length) {
      tell("export.nothing");
      box.focus();
      return;
    }
    sheet.close();
    page.restore(words);
    page.announce(page.say("export.restored"));
  };

  const field = (name, attributes) =>
    element("input", { type: "text", class: "number", dir: "ltr", "aria-label": page.say(name), ...attributes });
  const row = (...parts) => element("div", { class: "row" }, ...parts);
  const titled = (title, ...parts) => element("section", {}, element("h3", {}, page.say(title)), ...parts);
  const files = (title, kinds) => {
    const one = (kind) => {
      const name = page.say(`export.${kind}`);
      return button(kind.toUpperCase(), () => keep(kind), { class: "plain", title: name, "aria-label": name });
    };
    return titled(title, row(...kinds.map(one)));
  };
  const copied = (name, text) => {
    const box = field(name, { readonly: true });
    box.value = text;
    const copies = page.say("export.copy");
    return row(box, button(copies, () => copy(box), { class: "plain", "aria-label": `${copies}: ${page.say(name)}` }));
  };
  const sheet = createDialog(page, "export", "export", () => {
    tell("");
    // Where nothing differs from how the page opens, the view's name is as good.
    const words = page.words || `view=${page.state.view}`;
    const link = `${location.href.split("#")[0]}#${words.replaceAll(" ", "&")}`;
    const pasted = field("export.paste", {
      placeholder: page.say("export.paste"), spellcheck: "false", autocomplete: "off",
    });
    pasted.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      restore(pasted);
    });
    return [
      element(
        "div",
        { class: "pair" },
        files("export.picture", ["png", "svg"]),
        files("export.numbers", ["csv", "json"]),
      ),
      titled(
        "export.state",
        element("p", { class: "quiet" }, page.say("export.words.why")),
        copied("export.words", words),
        page.model.get("address") ? copied("export.link", link) : null,
        row(pasted, button(page.say("export.restore"), () => restore(pasted), { class: "plain" })),
      ),
      status,
    ];
  });
  return {
    ...sheet,
    update() {
      sheet.opener.textContent = page.say("export.open");
    },
  };
};
