// The lesson: a panel beside the view. Each stop opens the view that it speaks of, and asks a question that is checked
// with the numbers on screen.

import { button, element, phrase } from "../drawing/dom.js";
import { labelled } from "../drawing/labels.js";
import { commonWord } from "../compare/sides.js";
import { askedWord } from "./answers.js";
import { STOPS } from "./stops.js";

/** Whether a stop is about the reader's own sentences: two are compared if they have a word in common. @type {(page: Page, name: string, own: number[]) => boolean} */
const isOwn = ({ traces }, name, own) =>
  name === "context" ? own.length > 1 && commonWord(traces[own[0]], traces[own[1]]) !== null : own.length > 0;

/** The settings that open a stop; `own` are the reader's sentences. @type {(page: Page, stop: number, own?: number[]) => Partial<State>} */
export const stopSettings = (page, stop, own = page.state.own) => {
  const { lesson } = page.header;
  if (!lesson) return {};
  const [flies, fruit = lesson.fruit] = own;
  const traces = isOwn(page, STOPS[stop].name, own) ? { ...lesson, flies, fruit } : lesson;
  return { ...STOPS[stop].state(traces, page), stop };
};

/** The first stop whose question wasn't answered. @type {(page: Page) => number} */
export const nextStop = ({ state: { done } }) => Math.max(STOPS.findIndex((_, at) => !done.includes(at)), 0);

/** A number as people write it: "5.66", "5,66", "53 %". @type {(text: string) => number} */
const numberOf = (text) => Number(text.trim().replace(/\s*%$/, "").replace(",", ".") || NaN);

/** @type {(value: number) => string} */
const written = (value) => String(Number(value.toFixed(2)));

/** Whether the state is the one that a stop opens. @type {(page: Page, stop: number) => boolean} */
const opens = (page, stop) => {
  /** @type {Record<string, unknown>} */
  const state = page.state;
  const wanted = Object.entries(stopSettings(page, stop));
  return wanted.every(([key, value]) => JSON.stringify(state[key]) === JSON.stringify(value));
};

/** Words that name a stop, and settings and sentences of the reader's alone. */
const BARE = /^(?:(?:stop|done|language|theme|own|text\d?|model\d?)=\S+ ?)*$/;

/** @typedef {{ right: boolean | null, text: string }} Verdict */

/** @type {(page: Page) => PagePart} */
export const createLesson = (page) => {
  const [above, below] = [element("div"), element("div")];
  const own = page.typing?.createOwn() ?? null; // between them, and never rebuilt: it is typed in
  const root = element("div", { class: "lesson" }, above, own?.element, below);
  /** @type {Verdict} */
  let verdict = { right: null, text: "" };
  let [given, built] = ["", ""];

  /** The key of a stop's text: what names the lesson's sentences is said otherwise of others. @type {(name: string, part: string) => string} */
  const keyOf = (name, part) =>
    name === "context" && ["first", "second"].includes(part) && isOwn(page, name, page.state.own) ? `typing.context.${part}` : `lesson.${name}.${part}`;

  /** @type {(stop: number) => void} */
  const go = (stop) => {
    [verdict, given] = [{ right: null, text: "" }, ""];
    page.set(stopSettings(page, stop));
    root.querySelector("h2")?.focus();
  };

  /** @type {(stop: number, right: boolean, answer?: string) => void} */
  const judge = (stop, right, answer = "") => {
    const { name } = STOPS[stop];
    const hint = page.say(`lesson.${name}.hint`);
    verdict = { right, text: right ? page.say(answer ? "lesson.right.is" : "lesson.right", { answer }) : hint };
    const { done } = page.state;
    if (right && !done.includes(stop)) page.set({ done: [...done, stop].sort((a, b) => a - b) });
    else show();
    page.announce(right ? verdict.text : `${page.say("lesson.wrong")} ${hint}`);
  };

  /** @type {(stop: number) => Promise<void>} */
  const check = async (stop) => {
    const found = await STOPS[stop].answer(page);
    if (stop !== page.state.stop || !found) return;
    if (found.kind === "open") judge(stop, found.right);
    else if (found.kind === "number") {
      const near = [found.value, found.or ?? found.value].map((value) => Math.abs(numberOf(given) - value));
      judge(stop, Math.min(...near) <= found.within, written(found.value));
    }
    else if (found.kind === "choice") judge(stop, given === found.right, page.say(`lesson.choice.${found.right}`));
    else judge(stop, given === String(found.right.index), labelled(found.right));
  };

  /** A list of answers, one of which is chosen. @type {(label: string, options: [value: string, text: string][]) => HTMLElement} */
  const list = (label, options) =>
    element(
      "div",
      { class: "answers", role: "radiogroup", "aria-label": label },
      options.map(([value, text]) => {
        /** @type {HTMLInputElement} */
        const box = element("input", {
          type: "radio", name: `${page.id}-answer`, value, "data-focus": `answer-${value}`,
          on: { change: () => (given = box.value) },
        });
        box.checked = given === value;
        return element("label", { class: "tick" }, box, element("bdi", {}, text));
      }),
    );

  /** @type {(label: string) => HTMLElement} */
  const field = (label) => {
    /** @type {HTMLInputElement} */
    const box = element("input", {
      type: "text", inputmode: "decimal", size: 8, autocomplete: "off", "aria-label": label,
      on: { input: () => (given = box.value) },
    });
    box.value = given;
    return box;
  };

  /** The question's form. @type {(stop: number, question: string) => Promise<HTMLElement | null>} */
  const form = async (stop, question) => {
    const found = await STOPS[stop].answer(page);
    if (!found) return null;
    const asked = {
      number: () => field(question),
      word: () => list(question, found.kind === "word" ? found.words.map((unit) => [String(unit.index), labelled(unit)]) : []),
      choice: () => list(question, (STOPS[stop].choices ?? []).map((one) => [one, page.say(`lesson.choice.${one}`)])),
      open: () => null,
    }[found.kind]();
    const sent = (/** @type {Event} */ event) => {
      event.preventDefault();
      check(stop);
    };
    return element(
      "form",
      { class: "question", on: { submit: sent } },
      element("p", {}, element("b", {}, question)),
      asked,
      element("button", { type: "submit", class: "plain" }, page.say("lesson.check")),
    );
  };

  /** The dots: a stop each. @type {(stop: number) => HTMLElement} */
  const dots = (stop) =>
    element(
      "nav",
      { class: "stops", "aria-label": page.say("lesson.stops") },
      STOPS.map(({ name }, at) => {
        const done = page.state.done.includes(at);
        const title = `${at + 1}. ${page.say(`lesson.${name}.title`)}${done ? ` (${page.say("lesson.done")})` : ""}`;
        const current = at === stop ? { "aria-current": "step" } : {};
        return button(done ? "✓" : at + 1, () => go(at), { "aria-label": title, title, "data-done": done, ...current });
      }),
    );

  const show = async () => {
    const { stop } = page.state;
    root.hidden = stop === null;
    if (stop === null) return;
    const { name } = STOPS[stop];
    const current = page.current();
    const word = labelled(askedWord(page));
    /** @type {(part: string) => Child[]} */
    const text = (part) => phrase(page.say(keyOf(name, part)), { word: element("bdi", { class: "word query" }, word) });
    const question = page.say(`lesson.${name}.question`, { word });
    const asked = await form(stop, question);
    if (!current()) return;
    const looks = verdict.right === null ? "" : verdict.right ? "right" : "wrong";
    const wrong = verdict.right === false ? element("b", {}, `${page.say("lesson.wrong")} `) : null;
    root.setAttribute("aria-label", page.say("lesson"));
    own?.update(name);
    above.replaceChildren(
      dots(stop),
      element("h2", { tabindex: -1, "data-focus": "lesson-title" }, element("small", {}, page.say("lesson.stop", { at: stop + 1, of: STOPS.length })),
        page.say(`lesson.${name}.title`)),
      ...["first", "second", "third"].map((part) => element("p", {}, text(part))),
      element("p", { class: "try" }, element("b", {}, page.say("lesson.try")), " ", text("try")),
    );
    below.replaceChildren(
      asked ?? "",
      element("p", { class: `verdict ${looks}`, role: "status" }, wrong, verdict.text),
      element(
        "div",
        { class: "turns" },
        button(page.say("lesson.back"), () => go(stop - 1), { class: "plain", disabled: stop === 0 }),
        button(page.say("lesson.next"), () => go(stop + 1), { class: "plain", disabled: stop === STOPS.length - 1 }),
        button(page.say("lesson.close"), () => page.set({ stop: null }), { class: "plain" }),
      ),
    );
  };

  const update = () => {
    const { stop } = page.state;
    // An address that only names a stop, such as "#stop=6", opens its view as well.
    if (stop !== null && BARE.test(page.words) && !opens(page, stop)) {
      page.set(stopSettings(page, stop));
      return;
    }
    const now = [stop, page.language, ...page.state.own.map((at) => page.traces[at].serial)].join(" ");
    if (now !== built) [verdict, given] = [{ right: null, text: "" }, ""];
    built = now;
    show();
  };
  return { element: root, update };
};
