// Taking away what is seen: pictures, numbers, and words that bring it back.

import { button, element } from "./dom.js";
import { csv, download, fileName, json, png, sound } from "./formats.js";
import { settingsOf } from "./state.js";

const ofText = (kind, text) => new Blob([text], { type: `${kind};charset=utf-8` });

// The words in what was pasted: also in an address, after its #.
const wordsIn = (text) => {
  const words = text.trim().split("#").at(-1);
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
};

/** The button, and the dialog that it opens. `view` gives the view that is shown. */
export const createKeeping = (page, view) => {
  const status = element("p", { class: "status", role: "status" });
  const opener = button("", () => open(), { class: "plain", "aria-haspopup": "dialog" });
  const dialog = element("dialog", { class: "sheet keeping", "aria-labelledby": `${page.id}-keeping` });
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
    tell("keeping.making");
    try {
      const name = fileName(page, kind);
      download(name, await make(kind));
      tell("keeping.kept", { name });
    } catch (error) {
      tell("failed", { reason: error.message });
    }
  };
  const copy = async (box) => {
    try {
      await navigator.clipboard.writeText(box.value);
      tell("keeping.copied");
    } catch {
      box.focus();
      box.select();
      tell("keeping.refused");
    }
  };
  const restore = (box) => {
    const words = wordsIn(box.value);
    if (!Object.keys(settingsOf(words)).length) {
      tell("keeping.nothing");
      box.focus();
      return;
    }
    dialog.close();
    page.restore(words);
    page.announce(page.say("keeping.restored"));
  };

  const files = (title, kinds) =>
    element(
      "section",
      {},
      element("h3", {}, page.say(title)),
      element("div", { class: "row" }, ...kinds.map((kind) => button(kind.toUpperCase(), () => keep(kind), { class: "plain", title: page.say(`keeping.${kind}`), "aria-label": page.say(`keeping.${kind}`) }))),
    );
  const copied = (title, text) => {
    const box = element("input", { type: "text", readonly: true, "aria-label": page.say(title), class: "number", dir: "ltr" });
    box.value = text;
    return element("div", { class: "row" }, box, button(page.say("keeping.copy"), () => copy(box), { class: "plain", "aria-label": `${page.say("keeping.copy")}: ${page.say(title)}` }));
  };
  const fill = () => {
    tell("");
    // Where nothing differs from how the page opens, the view's name is as good.
    const words = page.words || `view=${page.state.view}`;
    const pasted = element("input", { type: "text", "aria-label": page.say("keeping.paste"), placeholder: page.say("keeping.paste"), class: "number", dir: "ltr", spellcheck: "false", autocomplete: "off" });
    pasted.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      restore(pasted);
    });
    dialog.replaceChildren(
      element(
        "div",
        { class: "head" },
        element("h2", { id: `${page.id}-keeping` }, page.say("keeping")),
        button("×", () => dialog.close(), { class: "plain", "aria-label": page.say("close"), title: page.say("close") }),
      ),
      element("div", { class: "pair" }, files("keeping.picture", ["png", "svg"]), files("keeping.numbers", ["csv", "json"])),
      element("section", {}, element("h3", {}, page.say("keeping.state")), element("p", { class: "quiet" }, page.say("keeping.words.why")),
        copied("keeping.words", words),
        page.model.get("address") ? copied("keeping.link", `${location.href.split("#")[0]}#${words.replaceAll(" ", "&")}`) : null,
        element("div", { class: "row" }, pasted, button(page.say("keeping.restore"), () => restore(pasted), { class: "plain" })),
      ),
      status,
    );
  };
  const open = () => {
    fill();
    dialog.showModal();
  };
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the page's keys rest meanwhile
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  });
  return {
    opener,
    element: dialog,
    update() {
      opener.textContent = page.say("keeping.open");
    },
  };
};
