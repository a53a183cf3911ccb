// Where a score comes from: what was written before at the query's token and at the key's, in the steps view.

import { element, phrase } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { word } from "../steps/elements.js";
import { roundEnd } from "../weights/quantity.js";

const KEPT = 100; // replies

/** A source's name in words. @type {(page: Page, source: SourceName) => string} */
const nameOf = (page, [name, layer, head]) =>
  name === "head" ? `L${layer}H${head}` : page.say(`sources.name.${name}`, { layer: `L${layer}` });

/** @type {(value: number) => string} */
const signed = (value) => `${value > 0 ? "+" : ""}${figure(value, 3)}`.replace("-", "−");

/** A bar from 0 in the middle. @type {(name: Child, value: number, end: number, kind?: string) => HTMLElement} */
const bar = (name, value, end, kind = "") => {
  const share = (50 * Math.min(Math.abs(value), end)) / end;
  const style = { "inset-inline-start": `${value < 0 ? 50 - share : 50}%`, width: `${share}%` };
  return element(
    "tr", { class: kind },
    element("th", { scope: "row" }, name),
    element("td", { class: "number" }, signed(value)),
    element("td", {}, element("span", { class: "source-room", "aria-hidden": "true" },
      element("span", { class: "source-zero" }),
      element("span", { class: `source-fill ${value < 0 ? "below" : "above"}`, style }))),
  );
};

/** A list of bars, whose sum is the score. @type {(page: Page, title: Child[], rows: [Child, number][], rest: SourceSums, end: number) => HTMLElement} */
const list = (page, title, rows, { others, sum }, end) =>
  element(
    "section", {},
    element("h5", {}, title),
    element(
      "table", { class: "source-bars" },
      element("tbody", {}, rows.map(([name, value]) => bar(name, value, end)),
        others ? bar(page.say("sources.others", { count: others }), sum, end, "quiet") : null),
      element("tfoot", {}, element("tr", {}, element("td"), element("td"), element("td", {}, element(
        "span", { class: "source-axis" }, [`−${end}`, "0", String(end)].map((text) => element("span", {}, text)))))),
    ),
  );

/** The lists of a reply. @type {(page: Page, walk: Walkthrough, reply: Reply) => Child[]} */
const lists = (page, walk, { score = 0, same_place = 0, scheme, query_sources, key_sources, pairs }) => {
  if (!query_sources || !key_sources || !pairs) return [];
  const all = [query_sources, key_sources, pairs];
  const end = roundEnd(Math.max(...all.flatMap(({ largest, sum }) => [...largest.map((one) => Math.abs(Number(one.at(-1)))), Math.abs(sum)])));
  const [query, key] = [() => word(walk.word, "query"), () => word(walk.label(walk.key), "key")];
  const same = walk.token === walk.key ? null : page.say(scheme === "rotary" ? "sources.turned" : "sources.placed", { score: signed(same_place) });
  return [
    element("p", { class: "why" }, page.say("sources.score", { score: signed(score) }), same && ` ${same}`),
    element(
      "div", { class: "source-lists" },
      list(page, phrase(page.say("sources.at"), { token: query(), other: key() }),
        query_sources.largest.map(([name, value]) => [nameOf(page, name), value]), query_sources, end),
      list(page, phrase(page.say("sources.at"), { token: key(), other: query() }),
        key_sources.largest.map(([name, value]) => [nameOf(page, name), value]), key_sources, end),
      list(page, phrase(page.say("sources.pairs"), { query: query(), key: key() }),
        pairs.largest.map(([one, other, value]) => [`${nameOf(page, one)} × ${nameOf(page, other)}`, value]), pairs, end),
    ),
    element("p", { class: "quiet" }, page.say("sources.how", { end: String(end) })),
  ];
};

/** Makes the block of the score that a walkthrough shows; null where its host doesn't run the model. @type {(page: Page) => SourcesOf} */
export const createSources = (page) => {
  /** @type {Map<string, Reply>} */
  const replies = new Map();
  /** @type {Map<string, Promise<Reply>>} */
  const asked = new Map();

  /** @type {(question: string, request: HostRequest) => Promise<Reply>} */
  const ask = (question, request) => {
    const known = asked.get(question);
    if (known) return known;
    const coming = page.host.ask(request).then(({ reply }) => {
      if (replies.size >= KEPT) replies.clear();
      replies.set(question, reply);
      return reply;
    }).finally(() => void asked.delete(question));
    asked.set(question, coming);
    return coming;
  };

  return (walk) => {
    const { trace, layer, number: head, token: query, key } = walk;
    if (trace.crossing || trace.image || !page.header.can.edit?.includes(trace.model.name)) return null;
    const room = element("div", { class: "source-room-of" });
    /** @type {(reply: Reply) => void} */
    const fill = (reply) => room.replaceChildren(...[lists(page, walk, reply)].flat().filter((part) => part instanceof Node));
    /** @type {HostRequest} */
    const request = { kind: "sources", trace: trace.index, layer, head, query, key };
    const question = JSON.stringify(request);
    const reply = replies.get(question);
    if (reply) fill(reply);
    else {
      room.append(element("p", { class: "quiet" }, page.say("sources.asking")));
      ask(question, request).then(fill).catch((error) => room.replaceChildren(
        element("p", { class: "quiet" }, page.say("failed", { reason: page.reason(error) }))));
    }
    return element(
      "div", { class: "block", "data-block": "sources" },
      element("h4", {}, page.say("sources.title")),
      element("p", { class: "why" }, page.say("sources.why")),
      room,
    );
  };
};
