// The pointer and the keyboard in the steps view.

import { targetOf } from "../drawing/dom.js";

/** @type {Space[]} */
const SPACES = ["match", "pass", "input"];
const ROW = "[data-block='keys'] [data-key], .scores [data-key]";
/** @type {Partial<Record<Space, keyof State>>} The settings that hold the coordinates; those of x aren't kept. */
const SETTINGS = { match: "coordinate", pass: "passed" };

/**
 * Listen on the view's root. `readAt` reads a coordinate, `settled` returns the one that is read while none is hovered,
 * `settle` sets that of x, `point` shows the products of a key.
 * @param {HTMLElement} root
 * @param {StepsRoom} room
 * @param {{
 *   readAt: (space: Space, at: number) => void, settled: (space: Space) => number, settle: (at: number) => void,
 *   point: (key: number) => void,
 * }} on
 */
export const listen = (root, room, { readAt, settled, settle, point }) => {
  const { page, reading } = room;
  /** @type {(space: Space, at: number) => void} */
  const fixed = (space, at) => {
    const setting = SETTINGS[space];
    if (setting) page.set({ [setting]: at });
    else settle(at);
  };

  /** @type {(of: HTMLElement) => Space} */
  const spaceOf = ({ dataset: { space } }) => (space === "pass" || space === "input" ? space : "match");

  // The coordinate under the pointer, or null.
  /** @type {(event: MouseEvent) => { space: Space, at: number } | null} */
  const place = (event) => {
    const strip = targetOf(event, ".strip, .pixels");
    if (!strip) return null;
    const { left, width, top, height } = strip.getBoundingClientRect();
    const space = spaceOf(strip);
    const { of } = reading[space];
    // A matrix' rows are coordinates; a strip's columns.
    const share = strip.matches(".pixels") ? (event.clientY - top) / height : (event.clientX - left) / width;
    return { space, at: Math.min(Math.max(Math.floor(share * of), 0), of - 1) };
  };

  const rest = () => {
    if (!room.walk) return;
    point(room.walk.key);
    for (const space of SPACES) readAt(space, settled(space));
  };

  root.addEventListener("pointermove", (event) => {
    const found = place(event);
    if (found && found.at !== reading[found.space].at) readAt(found.space, found.at);
  });
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch" || !room.walk) return;
    const row = targetOf(event, ROW);
    if (!targetOf(event, ".strip, .pixels")) rest();
    point(row ? Number(row.dataset.key) : room.walk.key);
  });
  root.addEventListener("pointerleave", rest);
  root.addEventListener("click", (event) => {
    const [found, row] = [place(event), targetOf(event, ROW)];
    if (targetOf(event, "input, button") || (!found && !row)) return;
    const key = row ? { key: Number(row.dataset.key) } : {};
    const setting = found && SETTINGS[found.space];
    if (found?.space === "input") settle(found.at);
    const role = targetOf(event, ".pixels")?.dataset.role;
    if (role === "query" || role === "key" || role === "value") room.takeApart(role);
    if (row || setting) page.set({ ...key, ...(found && setting && { [setting]: found.at }) });
  });

  // The coordinate that an arrow key moves to, on a strip or in the keys.
  /** @type {(event: KeyboardEvent, slider: boolean, reading: { at: number, of: number }) => number | null} */
  const onward = (event, slider, { at, of }) => {
    /** @type {Record<string, number>} */
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1 };
    if (slider) Object.assign(places, { ArrowDown: at - 1, ArrowUp: at + 1, Home: 0, End: of - 1 });
    const to = places[event.key];
    return to === undefined ? null : Math.min(Math.max(to, 0), of - 1);
  };

  root.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const slider = targetOf(event, "[role=slider]");
    const among = targetOf(event, "[data-focus=keys]");
    if (!slider && !among) return;
    const space = slider ? spaceOf(slider) : "match";
    const at = onward(event, slider !== null, reading[space]);
    const next = !among ? 0 : event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const { keys, key } = room.walk;
    if (at !== null) fixed(space, at);
    else if (next) room.choose(keys[Math.min(Math.max(keys.indexOf(key) + next, 0), keys.length - 1)]);
    else if (among && ["Delete", "Backspace"].includes(event.key)) room.remove(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
};
