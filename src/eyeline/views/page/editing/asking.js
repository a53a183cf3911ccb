// What can be done to a look or a head that was pressed: a menu of it, from a link, a bar, or a head's badge.

import { element, targetOf } from "../drawing/dom.js";
import { cutOf, known, knockedOf, offOf, siteOf } from "./edit_words.js";
import { createMenu } from "./menu.js";

/** @type {(page: Page, editing: Editing) => { cutter: (unit: number, title: string) => HTMLElement | null, listen: (frame: HTMLElement) => void }} */
export const createAsking = (page, editing) => {
  const menu = createMenu(editing.element);

  /** Offer what can be done to a look, at a place of the window. @type {(query: Unit, key: Unit, x: number, y: number, opener: HTMLElement | null) => void} */
  const askLook = (query, key, x, y, opener) => {
    const { site } = editing;
    const { queries, keys } = page.trace;
    const values = { site, query: known(page, queries, query), key: known(page, keys, key) };
    /** @type {(name: "cut" | "knocked" | "off", words: string) => MenuItem} */
    const item = (name, words) => ({
      text: page.say(editing.has(words) ? "editing.back" : `editing.do.${name}`, values),
      why: page.say(`editing.why.${name}`, values), chosen: () => editing.toggle(words),
    });
    menu.open(page.say("editing.look", values), [
      item("cut", cutOf(site, query, key)), item("knocked", knockedOf(site, query, key)), item("off", offOf(site)),
    ], x, y, opener);
  };

  /** The same for the look that a unit's bar or link is of. @type {(unit: number, x: number, y: number, opener: HTMLElement | null) => void} */
  const askUnit = (unit, x, y, opener) => {
    const look = page.lookOf(unit);
    if (look && editing.base) askLook(look[0], look[1], x, y, opener);
  };

  /** Offer to switch the head of a cell off. @type {(cell: HTMLElement, x: number, y: number) => void} */
  const askCell = (cell, x, y) => {
    const [, layer, head] = /^L(\d+)H(\d+)$/.exec(cell.dataset.focus ?? "") ?? [];
    if (head === undefined) return;
    const site = siteOf(Number(layer), Number(head));
    const words = offOf(site);
    menu.open(site, [{
      text: page.say(editing.has(words) ? "editing.do.on" : "editing.do.off", { site }),
      why: page.say("editing.why.off", { site }), chosen: () => editing.toggle(words),
    }], x, y, cell);
  };

  /** The button beside a unit's bar, for its look; none while no word is chosen, whose look it would be. @type {(unit: number, title: string) => HTMLElement | null} */
  const cutter = (unit, title) => {
    if (page.state.token === null) return null;
    const ask = page.say("editing.ask");
    /** @param {MouseEvent & { currentTarget: HTMLElement }} event */
    const pressed = ({ currentTarget: opener }) => {
      const { left, right, bottom } = opener.getBoundingClientRect();
      askUnit(unit, (left + right) / 2, bottom, opener);
    };
    return element("button", {
      type: "button", class: "bar-cut", "aria-haspopup": "menu", "aria-label": `${ask}: ${title}`, title: ask, "data-cut": unit,
      on: { click: pressed },
    }); // its sign is in the style, so that pictures and copied texts don't have it
  };

  /** The keys: X on a head of the overview, and undo and redo. @param {Event} event */
  const keyed = (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    const [key, command] = [event.key.toLowerCase(), event.ctrlKey || event.metaKey];
    const cell = targetOf(event, ".overview .head");
    if (!editing.base || event.altKey || targetOf(event)?.matches("input, textarea, select")) return;
    if (key === "x" && cell && !command) {
      const { left, right, bottom } = cell.getBoundingClientRect();
      askCell(cell, (left + right) / 2, bottom);
    } else if (key === "z" && command) editing.step(event.shiftKey ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  /** A press of a link, or of a head's badge, below its picture. @param {MouseEvent} event */
  const pressed = (event) => {
    if (!editing.base) return;
    const link = targetOf(event, ".links path");
    if (link) askUnit(Number(link.dataset.unit), event.clientX, event.clientY, null);
    const head = targetOf(event, ".overview .head");
    const box = head?.getBoundingClientRect();
    if (!head || !box || event.clientY <= box.top + box.width || !event.clientY) return;
    event.stopPropagation();
    askCell(head, event.clientX, event.clientY);
  };

  /** Listen to the page's frame. @param {HTMLElement} frame */
  const listen = (frame) => {
    frame.classList.add("editable");
    frame.addEventListener("click", pressed, { capture: true });
    // A page with a window of its own hears them wherever the focus is.
    const keys = page.model.get("address") ? document : frame;
    keys.addEventListener("keydown", keyed, { capture: true });
  };
  return { cutter, listen };
};
