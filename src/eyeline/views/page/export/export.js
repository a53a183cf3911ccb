// The export dialog: pictures, numbers, and words that restore the state.

import { button, element } from "../drawing/dom.js";
import { download, png, sound } from "./files.js";
import { csv, fileName, json } from "./formats.js";
import { signed } from "./signed.js";
import { createDialog } from "../drawing/dialog.js";
import { wordsIn } from "../state.js";

/** @type {(kind: string, text: string) => Blob} */
const ofText = (kind, text) => new Blob([text], { type: `${kind};charset=utf-8` });

/** @typedef {"png" | "svg" | "csv" | "json"} FileKind */

/**
 * The button, and the dialog that it opens. `view` returns the current view.
 * @param {Framed} page
 * @param {() => Pick<View, "numbers" | "picture">} view
 */
export const createExport = (page, view) => {
  const status = element("p", { class: "status", role: "status" });
  /** @type {(key: string, values?: Values) => void} */
  const tell = (key, values) => {
    status.textContent = key ? page.say(key, values) : "";
  };
  /** A picture with its provenance below it. @type {() => string} */
  const pictured = () => {
    const style = getComputedStyle(dialog.element.closest(".eyeline") ?? document.body);
    const [ground, quiet] = ["--ground", "--quiet"].map((name) => style.getPropertyValue(name).trim());
    return sound(signed(view().picture(), page.provenanceParts(), { ground, quiet }));
  };
  /** @type {(kind: FileKind) => Promise<{ name: string, blob: Blob }>} */
  const make = async (kind) => {
    if (kind === "csv" || kind === "json") {
      const numbers = await view().numbers();
      const about = page.provenance(numbers.place ? [numbers.place] : undefined);
      const text = kind === "csv" ? csv(about, numbers) : json(about, numbers, page.words);
      const type = kind === "csv" ? "text/csv" : "application/json";
      return { name: fileName(about, page.state.view, kind), blob: ofText(type, text) };
    }
    const svg = pictured();
    const blob = kind === "svg" ? ofText("image/svg+xml", svg) : await png(svg);
    return { name: fileName(page.provenance(), page.state.view, kind), blob };
  };
  /** @type {(kind: FileKind) => Promise<void>} */
  const keep = async (kind) => {
    tell("export.making");
    try {
      const { name, blob } = await make(kind);
      download(name, blob);
      tell("export.kept", { name });
    } catch (error) {
      tell("failed", { reason: page.reason(error) });
    }
  };
  /** @type {(box: HTMLInputElement) => Promise<void>} */
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
  /** @type {(box: HTMLInputElement) => void} */
  const restore = (box) => {
    const words = wordsIn(box.value);
    if (!Object.keys(page.read(words)).length && !/(?:^|\s)text=\S/.test(words)) {
      tell("export.nothing");
      box.focus();
      return;
    }
    dialog.close();
    page.restore(words);
    page.announce(page.say("export.restored"));
  };

  /** @type {(name: string, attributes: Attributes) => HTMLInputElement} */
  const field = (name, attributes) =>
    element("input", { type: "text", class: "number", dir: "ltr", "aria-label": page.say(name), ...attributes });
  /** @type {(...parts: Child[]) => HTMLElement} */
  const row = (...parts) => element("div", { class: "row" }, ...parts);
  /** @type {(title: string, ...parts: Child[]) => HTMLElement} */
  const titled = (title, ...parts) => element("section", {}, element("h3", {}, page.say(title)), ...parts);
  /** @type {(title: string, kinds: FileKind[]) => HTMLElement} */
  const files = (title, kinds) => {
    /** @type {(kind: FileKind) => HTMLElement} */
    const one = (kind) => {
      const name = page.say(`export.${kind}`);
      return button(kind.toUpperCase(), () => keep(kind), { class: "plain", title: name, "aria-label": name });
    };
    return titled(title, row(...kinds.map(one)));
  };
  /** @type {(name: string, text: string) => HTMLElement} */
  const copied = (name, text) => {
    const box = field(name, { readonly: true });
    box.value = text;
    const copies = page.say("export.copy");
    return row(box, button(copies, () => copy(box), { class: "plain", "aria-label": `${copies}: ${page.say(name)}` }));
  };
  const dialog = createDialog(page, "export", "export", () => {
    tell("");
    // If the state is the initial one, the view's name describes it.
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
        page.lacking ? element("p", { class: "quiet" }, page.say("typing.lacking")) : null,
        copied("export.words", words),
        page.model.get("address") ? copied("export.link", link) : null,
        row(pasted, button(page.say("export.restore"), () => restore(pasted), { class: "plain" })),
      ),
      status,
    ];
  });
  return {
    ...dialog,
    update() {
      dialog.opener.textContent = page.say("export.open");
    },
  };
};
