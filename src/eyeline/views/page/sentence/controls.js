// The view's own controls: the direction, and how many links are drawn; and its keys.

import { button, element, targetOf } from "../drawing/dom.js";

/**
 * Buttons of which one is pressed.
 * @type {(names: string[], chosen: (name: string) => void) => {
 *   element: HTMLElement, show: (label: string, texts: string[], now: string, title?: string) => void,
 * }}
 */
const choices = (names, chosen) => {
  const all = names.map((name) => button("", () => chosen(name), { class: "plain", "data-choice": name }));
  const group = element("span", { class: "choices", role: "group" }, ...all);
  return {
    element: group,
    show(label, texts, now, title = "") {
      group.setAttribute("aria-label", label);
      all.forEach((one, at) => {
        one.textContent = texts[at];
        one.title = title;
        one.setAttribute("aria-pressed", String(names[at] === now));
      });
    },
  };
};

/**
 * The controls; `turn` is called to change the direction.
 * @param {Page} page
 * @param {() => void} turn
 */
export const createControls = (page, turn) => {
  const toward = choices(["from", "to"], (name) => {
    if (page.state.toward !== name) turn();
  });
  const links = choices(["5", "all"], (name) => page.set({ links: name === "all" ? "all" : 5 }));
  const caption = element("span", { class: "caption", "aria-hidden": "true" });
  const linked = element("span", { class: "linked" }, caption, links.element);
  const whole = element("span", { class: "sentence-controls" }, toward.element, linked);
  /** Show the state; `drawn` says whether links can be drawn. @type {(drawn: boolean) => void} */
  const update = (drawn) => {
    /** @type {(key: string) => string} */
    const say = (key) => page.say(key);
    toward.show(say("toward"), ["toward.from", "toward.to"].map(say), page.state.toward, say("toward.key"));
    caption.textContent = say("links");
    links.show(say("links"), ["links.five", "links.all"].map(say), String(page.state.links));
    linked.hidden = !drawn;
  };
  return { element: whole, update };
};

/**
 * Listen to the view's keys in its parts: F turns the direction, and Escape leaves the pinned unit, if there is one.
 * @type {(page: Page, parts: HTMLElement[], turn: () => void, leave: () => void) => void}
 */
export const onSentenceKeys = (page, parts, turn, leave) => {
  /** @type {(event: KeyboardEvent) => void} */
  const pressed = (event) => {
    const typing = targetOf(event)?.matches("input, textarea, select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && page.state.token !== null) leave();
    else if (event.key.toLowerCase() === "f") turn();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  for (const part of parts) part.addEventListener("keydown", pressed);
};
