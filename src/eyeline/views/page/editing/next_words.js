// What a decoder says next, word by word, with the probabilities: as trained, and with the edits beside it.

import { button, element } from "../drawing/dom.js";
import { named, percent } from "../drawing/labels.js";
import { barTable } from "./bars.js";

const SHOWN = 6; // likeliest words of a step
const MORE = 5; // words that are added at once

/** A token that was added, with what stood beside it. @typedef {{ id: number, text: string, probability: number }} Added */
/** A run that goes on: what was added to it, and the next words. @typedef {{ trace: number, added: Added[], words: [id: number, text: string, probability: number][], ended: boolean }} Side */

/** The text of a token, with its spaces to be seen. @type {(text: string) => string} */
const visible = (text) => (text.trim() ? named(text) : JSON.stringify(text));

/** @type {(page: Page, editing: Editing) => PagePart} */
export const createNextWords = (page, editing) => {
  const summary = element("summary", {});
  const room = element("div", { class: "edit-next-room" });
  const whole = element("details", { class: "edit-part", hidden: true }, summary, room);
  /** @type {Side[]} */
  let sides = [];
  let drawn = ""; // the key of what the sides are of
  let busy = false;
  let stopped = false;
  let trouble = "";
  let offered = false; // whether it was opened for a run with edits

  /** The traces that go on. @type {() => Trace[]} */
  const traces = () => {
    const { base, run } = editing;
    return base ? (run ? [base, run] : [base]) : [];
  };

  /** Ask what comes next on all sides. @type {(next: Side[]) => Promise<boolean>} */
  const ask = async (next) => {
    const key = drawn;
    const { reply } = await page.host.ask({
      kind: "next", sides: next.map(({ trace, added }) => ({ trace, written: added.map(({ id }) => id) })),
    });
    if (key !== drawn) return false;
    sides = next.map((side, at) => ({ ...side, words: reply.sides?.[at].words ?? [], ended: reply.sides?.[at].ended ?? true }));
    return true;
  };

  /** @type {(work: () => Promise<void>) => Promise<void>} */
  const during = async (work) => {
    if (busy) return;
    [busy, stopped, trouble] = [true, false, ""];
    show();
    try {
      await work();
    } catch (error) {
      trouble = page.reason(error);
    }
    busy = false;
    update(); // the runs may be others by now
  };

  /** Add the likeliest word on each side, so many times. @type {(times: number) => Promise<void>} */
  const goOn = (times) => during(async () => {
    for (let time = 0; time < times && !stopped && sides.some(({ ended }) => !ended); time++) {
      const next = sides.map((side) => {
        const [first] = side.words;
        return side.ended || !first ? side : { ...side, added: [...side.added, { id: first[0], text: first[1], probability: first[2] }] };
      });
      if (!(await ask(next))) return;
      show();
    }
    page.announce(sides.map((side) => side.added.map(({ text }) => text).join("")).join(" | "));
  });

  /** Add one word, on all sides alike. @type {(id: number, text: string) => Promise<void>} */
  const take = (id, text) => during(async () => {
    await ask(sides.map((side) => {
      const probability = side.words.find(([one]) => one === id)?.[2] ?? 0;
      return side.ended ? side : { ...side, added: [...side.added, { id, text, probability }] };
    }));
  });

  const restart = () => during(async () => {
    await ask(traces().map(({ index }) => ({ trace: index, added: [], words: [], ended: false })));
  });

  /** What was added on a side. @type {(side: Side, name: string, other: Side | undefined) => HTMLElement} */
  const written = ({ added, ended }, name, other) =>
    element("p", { class: "edit-written" }, element("span", { class: "quiet" }, name), " ",
      added.map(({ text, probability }, at) =>
        element("span", {
          class: other && other.added[at]?.text !== text ? "edit-token other" : "edit-token", title: percent(probability),
        }, element("bdi", {}, visible(text)), element("span", { class: "quiet" }, percent(probability)))),
      ended ? element("span", { class: "quiet" }, page.say("editing.next.ended")) : null,
    );

  const show = () => {
    const [first, second] = sides;
    summary.textContent = page.say("editing.next");
    const names = ["editing.before", "editing.after"].map((key) => page.say(key));
    const same = !second || String(first?.added.map(({ id }) => id)) === String(second.added.map(({ id }) => id));
    /** @type {(own: Side[], titles: string[], side?: number) => HTMLElement} */
    const table = (own, titles, side = 0) => {
      // The likeliest of all sides, by the side where each is likeliest.
      const most = new Map(own.flatMap(({ words }) => words).map(([id, text]) => [id, text]));
      const rows = [...most].map(([id, text]) => {
        const numbers = own.map(({ words }) => words.find(([one]) => one === id)?.[2] ?? 0);
        return { id, text, numbers, most: Math.max(...numbers) };
      }).sort((one, other) => other.most - one.most).slice(0, SHOWN).sort((one, other) => (other.numbers.at(-1) ?? 0) - (one.numbers.at(-1) ?? 0));
      return barTable(page.say("editing.next.words"), [page.say("editing.next.word"), ...titles], rows.map(({ id, text, numbers }) => ({
        name: button(element("bdi", {}, visible(text)), () => take(id, text), {
          class: "edit-open", title: page.say("editing.next.take"), disabled: busy, "data-focus": `next ${id}`,
        }),
        shares: numbers,
        texts: numbers.map((number) => (number < 0.0005 ? "<0.1%" : number < 0.0995 ? `${(100 * number).toFixed(1)}%` : percent(number))),
      })), side);
    };
    const tables = !first?.words.length ? []
      : same ? [table(sides, second ? names : [page.say("editing.next.probability")])]
        : sides.map((side, at) => table([side], [names[at]], at));
    room.replaceChildren(
      element("p", { class: "quiet" }, page.say("editing.next.how")),
      ...sides.filter(({ added, ended }) => added.length || ended).map((side, at) => written(side, second ? names[at] : "", sides[1 - at])),
      element("div", { class: "edit-tables" }, tables),
      element("div", { class: "edit-going" },
        button(page.say("editing.next.one"), () => goOn(1), { class: "plain", disabled: busy || !first, "data-focus": "next-one" }),
        button(page.say("editing.next.more", { count: MORE }), () => goOn(MORE), { class: "plain", disabled: busy || !first, "data-focus": "next-more" }),
        busy ? button(page.say("editing.stop"), () => {
          stopped = true;
        }, { class: "plain", "data-focus": "next-stop" }) : button(page.say("editing.next.again"), restart, { class: "plain", disabled: !first?.added.length, "data-focus": "next-again" }),
        busy ? element("span", { class: "quiet", role: "status" }, page.say("editing.next.running")) : null,
        trouble ? element("span", { class: "trouble" }, trouble) : null,
      ),
    );
  };

  const update = () => {
    const { base } = editing;
    whole.hidden = base?.kind !== "decoder";
    if (whole.hidden) return;
    if (editing.run && !offered) {
      offered = true;
      whole.open ||= !page.narrow.matches;
    }
    const key = JSON.stringify([...traces().map(({ serial }) => serial)]);
    if (whole.open && key !== drawn && !busy) {
      drawn = key;
      sides = [];
      restart();
      return;
    }
    show();
  };
  whole.addEventListener("toggle", update);
  return { element: whole, update };
};
