// The table of the toy's words, each with its query, key and value, all of which can be changed.

import { button, element } from "../drawing/dom.js";
import { named } from "../drawing/labels.js";
import { plain } from "./arithmetic.js";
import { changed, hasRoom, LARGEST, tidy, withOneMore, without } from "./example.js";
import { nameOf } from "./panels.js";

/** @type {["q" | "k" | "v", string][]} The given parts, and the names of their roles. */
const GIVEN = [["q", "query"], ["k", "key"], ["v", "value"]];

/** The number that a text says; null if it says none. @type {(text: string) => number | null} */
const numberOf = (text) => {
  const sound = text.trim().replace("−", "-").replace(",", ".");
  const value = sound === "" ? NaN : Number(sound);
  return Math.abs(value) <= LARGEST ? tidy(value) : null;
};

/** @typedef {{ page: Page, toy: () => Toy, change: (toy: Toy) => void }} Editing */

/** The field of one number. @type {(editing: Editing, cell: ToyCell, name: string) => HTMLElement} */
const field = ({ toy, change }, cell, name) => {
  const box = element("input", {
    type: "text", inputmode: "decimal", class: "number", size: 4, autocomplete: "off", spellcheck: "false",
    "aria-label": name, "data-focus": nameOf(cell),
  });
  const shown = element("span", { class: "number as-text", "aria-hidden": "true" });
  const read = () => {
    const value = numberOf(box.value);
    box.setAttribute("aria-invalid", String(value === null));
    if (value !== null) change(changed(toy(), cell, value));
  };
  box.addEventListener("input", read);
  box.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    box.value = plain((numberOf(box.value) ?? 0) + (event.shiftKey ? 1 : 0.1) * step, 3);
    read();
  });
  return element("td", { "data-cell": nameOf(cell), class: "signed given" }, box, shown);
};

/** The table, above a legend. @type {(editing: Editing, legend: HTMLElement) => HTMLElement} */
export const tokensTable = (editing, legend) => {
  const { page, toy, change } = editing;
  const { words, q, v } = toy();
  const wide = { q: q[0].length, k: q[0].length, v: v[0].length };
  /** @type {(at: number) => HTMLElement} */
  const wordField = (at) => {
    const box = element("input", {
      type: "text", class: "word-field", dir: "auto", maxlength: 40, spellcheck: "false", autocomplete: "off",
      "aria-label": page.say("toy.word", { place: at + 1 }), "data-focus": `word-${at}`,
    });
    box.value = words[at];
    box.addEventListener("input", () => {
      const typed = box.value;
      if (typed.trim()) change({ ...toy(), words: toy().words.map((word, of) => (of === at ? typed : word)) });
    });
    return box;
  };
  /** @type {(at: number) => HTMLElement} */
  const out = (at) => {
    const name = page.say("toy.remove", { word: named(words[at]) });
    return button("×", () => change(without(toy(), at)), {
      class: "plain out", title: name, "aria-label": name, "data-focus": `out-${at}`,
    });
  };
  /** @type {(at: number) => HTMLElement} */
  const line = (at) =>
    element(
      "tr",
      { "data-row": at },
      element(
        "th",
        { scope: "row" },
        wordField(at),
        element("bdi", { class: "as-text" }, named(words[at])),
        words.length > 1 ? out(at) : null,
      ),
      GIVEN.map(([part, role]) =>
        Array.from({ length: wide[part] }, (_, column) => {
          const name = page.say(`toy.number.${role}`, { word: named(words[at]), coordinate: column });
          return field(editing, { part, row: at, column }, name);
        }),
      ),
    );
  const more = button(page.say("toy.add"), () => change(withOneMore(toy())), { class: "plain", "data-focus": "add" });
  return element(
    "div",
    { class: "givens" },
    element(
      "table",
      { class: "toy-table", "aria-label": page.say("toy.tokens") },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td"),
          GIVEN.map(([part, role]) =>
            element(
              "th",
              { scope: "colgroup", colspan: wide[part], class: role },
              element("b", {}, part.toUpperCase()), " ", page.say(`toy.${role}`),
            ),
          ),
        ),
      ),
      element("tbody", {}, words.map((_, at) => line(at))),
    ),
    element("div", { class: "below" }, legend, hasRoom(toy()) ? more : null),
  );
};

/** Show the numbers of the fields that nobody is typing in. @type {(root: HTMLElement, toy: Toy) => void} */
export const fillFields = (root, toy) => {
  for (const [part] of GIVEN) {
    toy[part].forEach((numbers, row) =>
      numbers.forEach((value, column) => {
        const td = root.querySelector(`[data-cell="${nameOf({ part, row, column })}"]`);
        const box = td?.querySelector("input");
        const shown = td?.querySelector(".as-text");
        if (shown) shown.textContent = plain(value, 3);
        if (!box || (box === document.activeElement && numberOf(box.value) === value)) return;
        if (box === document.activeElement && box.getAttribute("aria-invalid") === "true") return;
        box.value = plain(value, 3);
        box.setAttribute("aria-invalid", "false");
      }),
    );
  }
};
