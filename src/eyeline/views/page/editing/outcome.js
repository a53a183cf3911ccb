// What the edits change: the heads that look elsewhere, and the words whose vectors turn.

import { button, element, phrase } from "../drawing/dom.js";
import { figure, isolated, labelled, named, onScale } from "../drawing/labels.js";
import { roundEnd, scaleEnd } from "../weights/quantity.js";
import { barTable } from "./bars.js";
import { layerOf } from "./edit_words.js";

const ROWS = 6; // rows of a table
const ROUNDING = 1e-12; // what differs by less is the same

/** @type {(page: Page, editing: Editing) => PagePart} */
export const createOutcome = (page, editing) => {
  const summary = element("summary", {});
  const room = element("div", { class: "edit-outcome" });
  const whole = element("details", { class: "edit-part", hidden: true, open: !page.narrow.matches }, summary, room);
  let asked = ""; // the key of what was asked for
  /** @type {{ key: string, reply: Reply, near: [NearWords, NearWords] | null } | null} */
  let found = null;

  /** The pinned word, if it is one of the queries. @type {() => Unit | null} */
  const pinned = () => {
    const { token, toward } = page.state;
    return token === null || (toward === "to" && page.trace.crossing) ? null : page.trace.queries.unitOf(token, "words");
  };

  /** The words nearest to a word's last vector, in both runs. @type {(base: Trace, run: Trace, word: Unit) => Promise<[NearWords, NearWords] | null>} */
  const nearest = async (base, run, word) => {
    if (!base.vectors || !run.vectors) return null;
    try {
      const lists = await Promise.all([base, run].map((trace) => page.host.nearest(trace, word)));
      return [lists[0].at(-1) ?? [], lists[1].at(-1) ?? []];
    } catch {
      return null; // a model without a vocabulary to compare with
    }
  };

  /** @type {(key: string, base: Trace, run: Trace, word: Unit | null) => Promise<void>} */
  const fetch = async (key, base, run, word) => {
    asked = key;
    try {
      const tokens = word ? { token: word.first, last: word.last } : {};
      const [{ reply }, near] = await Promise.all([
        page.host.ask({ kind: "changes", trace: base.index, other: run.index, ...tokens }),
        word && base.kind === "encoder" ? nearest(base, run, word) : null, // a decoder's last vector is near what comes next
      ]);
      if (asked === key) found = { key, reply, near };
    } catch (error) {
      if (asked !== key) return;
      room.replaceChildren(element("p", { class: "trouble" }, page.say("failed", { reason: page.reason(error) })));
      return;
    }
    update();
  };

  /** The heads whose rows moved most. @type {(base: Trace, run: Trace, reply: Reply, word: Unit | null) => HTMLElement} */
  const looksCard = (base, run, { looks = [], turned = 0 }, word) => {
    const end = scaleEnd(looks.map(([, , , moved]) => moved));
    const title = element("h3", {}, page.say("editing.looks"));
    const count = base.depth * base.heads;
    const why = word
      ? phrase(page.say("editing.looks.word"), { word: element("bdi", {}, named(word.text)) }) : [page.say("editing.looks.any")];
    if (!looks.length) {
      const last = run.edits.every((one) => layerOf(one) === base.depth - 1);
      return element("section", {}, title, element("p", { class: "quiet" }, page.say(last ? "editing.looks.last" : "editing.looks.none")));
    }
    const rows = looks.slice(0, ROWS).map(([layer, head, query, moved]) => {
      const unit = base.queries.unitOf(query, "words");
      const site = `L${layer}H${head}`;
      const open = button([site, " ", element("bdi", { class: "quiet" }, labelled(unit))], () => page.set({
        view: "compare", trace: base.index, layer, head, token: query, toward: "from", other: [run.index, layer, head], partner: null,
      }), { class: "edit-open", title: page.say("editing.looks.open", { site, word: isolated(labelled(unit)) }), "data-focus": `look ${site}` });
      return { name: open, shares: [moved / end], texts: [onScale(moved, end)] };
    });
    return element(
      "section", {}, title,
      element("p", { class: "quiet" }, why, " ", page.say("editing.looks.count", { turned, count }), " ", page.say("editing.scale", { end: onScale(end, end) })),
      barTable(page.say("editing.looks"), [page.say("editing.looks.head"), page.say("editing.looks.moved")], rows),
    );
  };

  /** The words whose vectors turned most. @type {(base: Trace, reply: Reply, word: Unit | null, near: [NearWords, NearWords] | null) => HTMLElement} */
  const vectorsCard = (base, { vectors }, word, near) => {
    const title = element("h3", {}, page.say("editing.vectors"));
    if (!vectors) return element("section", {}, title, element("p", { class: "quiet" }, page.say("editing.vectors.none")));
    const all = page.shown(base.queries.words).map((at) => base.queries.words[at]).map((unit) => {
      const own = vectors.slice(unit.first, unit.last);
      const turn = Math.max(...own);
      return { unit, turn: turn < ROUNDING ? 0 : turn };
    }).sort((one, other) => Number(other.unit === word) - Number(one.unit === word) || other.turn - one.turn);
    const end = roundEnd(Math.max(...all.map(({ turn }) => turn)));
    const digits = Math.max(2 - Math.floor(Math.log10(end)), 2); // two more than the scale's end has
    const rows = all.slice(0, ROWS).map(({ unit, turn }) => ({
      name: element("bdi", { class: unit === word ? "edit-pinned" : null }, labelled(unit)), shares: [turn / end], texts: [turn ? figure(turn, digits) : "0"],
    }));
    /** @type {(list: NearWords) => string} */
    const listed = (list) => list.slice(0, 4).map(([text]) => isolated(named(text))).join(", ");
    return element(
      "section", {}, title,
      element("p", { class: "quiet" }, page.say("editing.vectors.how"), " ", page.say("editing.scale", { end: String(end) })),
      barTable(page.say("editing.vectors"), [page.say("editing.vectors.word"), "1 − cos"], rows),
      near && near[0].length ? element("p", { class: "edit-near" }, phrase(page.say("editing.near"), {
        word: element("bdi", {}, named(word?.text ?? "")), before: listed(near[0]), after: listed(near[1]),
      })) : null,
    );
  };

  const update = () => {
    const { base, run } = editing;
    whole.hidden = !base || !run;
    summary.textContent = page.say("editing.outcome");
    if (!base || !run) return;
    const word = pinned();
    const key = JSON.stringify([base.serial, run.serial, word?.first ?? null]);
    if (asked !== key) fetch(key, base, run, word);
    const now = found?.key.startsWith(JSON.stringify([base.index, run.index]).slice(0, -1)) ? found : null;
    room.dataset.stale = String(now?.key !== key);
    if (!now) {
      room.replaceChildren(element("p", { class: "quiet" }, page.say("editing.comparing")));
      return;
    }
    const drawn = JSON.stringify([now.key, page.language, page.state.special]);
    if (room.dataset.drawn === drawn) return;
    room.dataset.drawn = drawn;
    const at = JSON.parse(now.key)[2];
    const then = at === null ? null : base.queries.unitOf(at, "words");
    room.replaceChildren(looksCard(base, run, now.reply, then), vectorsCard(base, now.reply, then, now.near));
  };
  return { element: whole, update };
};
