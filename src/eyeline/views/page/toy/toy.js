// The toy: attention with a few small numbers, every step on one screen, all of it changing as a number is dragged.

import { choice, element, targetOf, tick } from "../drawing/dom.js";
import { isolated, named, percent } from "../drawing/labels.js";
import { svgOf } from "../drawing/svg.js";
import { refocused } from "../drawing/word_picker.js";
import { twoOrders } from "../positions/formula.js";
import { arithmetic, sources } from "./arithmetic.js";
import { attended } from "./attention.js";
import { EXAMPLE, ordered, same, toyOf, widened, written } from "./example.js";
import { endsOf, legend, matrixOf, nameOf, numbersOf, put } from "./panels.js";
import { plane } from "./plane.js";
import { createSliders, maskChoice, plainButton } from "./sliders.js";
import { toyTable } from "./table.js";
import { fillFields, tokensTable } from "./tokens.js";

const STEPS = /** @type {ToyPart[]} */ (["scores", "quotients", "open", "exponentials", "sums", "weights", "output"]);

/** The weights of the toy as it stands, a row for each query, for questions on them. @type {(page: Page) => number[][]} */
export const toyWeights = (page) => attended(toyOf(page)).weights;

/** @type {(text: string | null) => ToyCell | null} */
const cellNamed = (text) => {
  const found = /^([a-z]+)-(\d+)-(\d+)$/.exec(text ?? "");
  if (!found) return null;
  return { part: /** @type {ToyPart} */ (found[1]), row: Number(found[2]), column: Number(found[3]) };
};

/** The view. @type {(page: Page) => View} */
export const createToy = (page) => {
  const root = element("div", { class: "toy" });
  const controls = element("div", { class: "tools toy-controls" });
  /** @type {{ toy: Toy, steps: ToySteps, built: string, sliders: ReturnType<typeof createSliders> | null }} */
  const room = { toy: EXAMPLE, steps: attended(EXAMPLE), built: "", sliders: null };
  /** @type {ToyCell | null} */
  let pointed = null;
  /** @type {"same" | "other" | null} What became of the outputs when the words were shuffled. */
  let shuffled = null;

  /** @type {(toy: Toy) => void} */
  const change = (toy) => {
    shuffled = null;
    page.set({ toy: same(toy, EXAMPLE) ? null : written(toy) });
  };
  const editing = { page, toy: () => room.toy, change };

  // The last word comes first. Each word's output is compared with what it was.
  const shuffle = () => {
    const { toy } = room;
    const { order, same: kept } = twoOrders(toy, "none");
    change(ordered(toy, order));
    shuffled = kept.every(Boolean) ? "same" : "other";
    tell();
  };

  /** @type {(nth: string, title: Child, why: Child, ...content: Child[]) => HTMLElement} */
  const panel = (nth, title, why, ...content) =>
    element(
      "section",
      { class: "toy-step", "data-step": nth },
      element("h3", {}, nth ? element("span", { class: "nth" }, nth) : null, " ", title),
      element("p", { class: "why" }, why),
      content,
    );

  /** @type {(part: ToyPart) => HTMLElement} */
  const legendOf = (part) => element("p", { class: "toy-legend", "data-legend": part });

  /** @type {(part: ToyPart, more?: ToyPart) => HTMLElement[]} */
  const table = (part, more) => {
    const { words, v } = room.toy;
    const values = part === "output";
    /** @type {Child[]} */
    const columns = values ? v[0].map((_, at) => String(at)) : words.map((word) => element("bdi", {}, named(word)));
    const kind = values ? "value" : "key";
    return [matrixOf({ part, rows: words, columns, name: page.say(`toy.${part}`), kind, more }), legendOf(part)];
  };

  const build = () => {
    const { toy } = room;
    const d = toy.q[0].length;
    const sliders = createSliders(editing);
    room.sliders = sliders;
    const divided = tick(`÷ √${d}`, toy.scaled, (on) => change({ ...room.toy, scaled: on }));
    divided.querySelector("input")?.setAttribute("data-focus", "scaled");
    const mask = maskChoice(page, toy.mask, (next) => change({ ...room.toy, mask: next }));
    const why = page.say(toy.scaled ? "toy.quotients.why" : "toy.quotients.none", { d });
    const first = [
      panel("", page.say("toy.tokens"), page.say("toy.tokens.why"), tokensTable(editing, legendOf("q"))),
      panel("1", page.say("toy.scores"), page.say("toy.scores.why"), ...table("scores")),
      panel("2", divided, why, ...table("quotients")),
    ];
    const masked = panel("3", mask, page.say(`toy.${toy.mask}.why`), ...table("open"));
    const rest = [
      panel("4", page.say("toy.exponentials"), page.say("toy.exponentials.why"), ...table("exponentials", "sums")),
      panel("5", page.say("toy.weights"), page.say("toy.weights.why"), ...table("weights")),
      panel("6", page.say("toy.output"), page.say("toy.output.why"), ...table("output")),
      element("div", { class: "plane-place" }),
    ];
    const few = toy.words.length <= 3; // then the first four panels fit beside one another
    root.replaceChildren(
      element(
        "p",
        { class: "made", "aria-live": "polite" },
        element(
          "span",
          { class: "toy-formula", dir: "ltr" },
          [["softmax(", ""], ["QKᵀ", "scores"], [toy.scaled ? ` ÷ √${d}` : "", "quotients"], [toy.mask === "none" ? "" : " + mask", "open"], [")", ""], ["V", "output"]]
            .map(([text, part]) => element("span", { "data-of": part || null }, text)),
        ),
        element("span", { class: "story" }),
      ),
      element("div", { class: "flow" }, few ? [first, masked, sliders.element] : [first, sliders.element, masked], rest),
      element("p", { class: "remark", role: "status" }),
    );
  };

  const fill = () => {
    const { toy, steps } = room;
    const numbers = numbersOf(toy, steps);
    const ends = endsOf(numbers);
    for (const [part, rows] of /** @type {[ToyPart, number[][]][]} */ (Object.entries(numbers))) {
      rows.forEach((values, row) =>
        values.forEach((value, column) => {
          /** @type {HTMLElement | null} */
          const td = root.querySelector(`[data-cell="${nameOf({ part, row, column })}"]`);
          if (td) put(td, value, ends[part], page.dark);
        }),
      );
      root.querySelector(`[data-legend="${part}"]`)?.replaceChildren(legend(part, ends[part], page.dark));
    }
    fillFields(root, toy);
    room.sliders?.fill(toy, steps);
    for (const line of root.querySelectorAll("tr[data-row]")) {
      line.classList.toggle("own", Number(line.getAttribute("data-row")) === toy.row);
    }
    root.querySelector(".plane-place")?.replaceChildren(plane(page, toy, steps, ends.v) ?? "");
    point(pointed);
    tell();
  };

  // Below everything: what the mask left, and what became of shuffled words.
  const tell = () => {
    const { sums } = room.steps;
    const remark = root.querySelector(".remark");
    const lost = sums.findIndex((sum) => sum === 0);
    const nothing = lost < 0 ? "" : page.say("toy.nothing", { word: isolated(named(room.toy.words[lost])) });
    if (remark) remark.textContent = shuffled ? page.say(`toy.shuffled.${shuffled}`) : nothing;
  };

  // Mark a cell and the cells that made it, and write its arithmetic.
  /** @type {(cell: ToyCell | null) => void} */
  const point = (cell) => {
    const { toy, steps } = room;
    pointed = cell && root.querySelector(`[data-cell="${nameOf(cell)}"]`) ? cell : null;
    for (const td of root.querySelectorAll(".made-of, .made-here")) td.classList.remove("made-of", "made-here");
    for (const part of root.querySelectorAll("[data-of]")) part.classList.remove("lit");
    const story = root.querySelector(".story");
    if (!pointed) {
      story?.replaceChildren(page.say("toy.point"));
      return;
    }
    root.querySelector(`[data-cell="${nameOf(pointed)}"]`)?.classList.add("made-here");
    for (const one of sources(toy, pointed)) {
      root.querySelector(`[data-cell="${nameOf(one)}"]`)?.classList.add("made-of");
    }
    root.querySelector(`[data-of="${pointed.part}"]`)?.classList.add("lit");
    const { part, row, column } = pointed;
    const names = {
      query: isolated(named(toy.words[row])), key: isolated(named(toy.words[column] ?? "")), coordinate: column,
    };
    const what = page.say(`toy.story.${part}`, names);
    story?.replaceChildren(what, " ", element("span", { class: "number", dir: "ltr" }, arithmetic(toy, steps, pointed)));
  };

  /** @type {(event: Event) => ToyCell | null} */
  const cellAt = (event) => cellNamed(targetOf(event, "[data-cell]")?.getAttribute("data-cell") ?? null);
  root.addEventListener("pointerover", (event) => point(cellAt(event)));
  root.addEventListener("pointerleave", () => point(null));
  root.addEventListener("focusin", (event) => point(cellAt(event)));
  root.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell && STEPS.includes(cell.part) && cell.row !== room.toy.row) change({ ...room.toy, row: cell.row });
  });
  root.addEventListener("keydown", (event) => {
    const cell = cellAt(event);
    if (!cell || !STEPS.includes(cell.part) || event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, [number, number]>} */
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    const to = { ...cell, row: cell.row + move[0], column: cell.column + move[1] };
    /** @type {HTMLElement | null} */
    const next = root.querySelector(`[data-cell="${nameOf(to)}"]`);
    next?.focus();
  });

  const tools = () => {
    const { toy } = room;
    /** @type {[number, string][]} */
    const widths = [2, 3].map((width) => [width, page.say("toy.width", { width })]);
    const own = toy.q[0].length === toy.v[0].length && toy.q[0].length > 1 && toy.q[0].length < 4;
    const width = choice(page.say("toy.widths"), widths, toy.q[0].length, (value) => change(widened(room.toy, Number(value))));
    width.setAttribute("data-focus", "width");
    refocused(controls, () =>
      controls.replaceChildren(
        ...(own ? [width] : []),
        plainButton(page.say("toy.shuffle"), "shuffle", shuffle),
        plainButton(page.say("toy.reset"), "reset", () => page.set({ toy: page.fresh.toy })),
      ),
    );
  };

  const update = () => {
    const toy = toyOf(page);
    Object.assign(room, { toy, steps: attended(toy) });
    const built = [page.language, toy.scaled, toy.mask, toy.words.length, toy.q[0].length, toy.v[0].length, ...toy.words].join("|");
    if (built !== room.built) {
      // While a word is typed, its own field isn't made anew.
      room.built = built;
      const at = document.activeElement instanceof HTMLInputElement ? document.activeElement.selectionStart : null;
      refocused(root, build);
      const field = document.activeElement;
      if (field instanceof HTMLInputElement && field.matches(".word-field") && root.contains(field)) field.setSelectionRange(at, at);
    }
    tools();
    fill();
  };

  return {
    element: root,
    controls,
    uses: [],
    places: () => [],
    sentence: () => {
      const { toy, steps } = room;
      const given = steps.weights[toy.row].map((weight, at) =>
        page.say("toy.gives", { share: percent(weight), word: isolated(named(toy.words[at])) }),
      );
      return page.say("toy.sentence", { word: isolated(named(toy.words[toy.row])), given: given.join(", ") });
    },
    update,
    numbers: () => toyTable(room.toy, room.steps),
    picture: () => {
      root.classList.add("as-picture"); // fields become texts
      try {
        return svgOf(root, [...root.children].filter((part) => !part.matches(".slides, .made")));
      } finally {
        root.classList.remove("as-picture");
      }
    },
    destroy: () => {},
  };
};
