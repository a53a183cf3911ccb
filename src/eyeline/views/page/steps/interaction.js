// How the steps view is pointed at, clicked, and gone through with keys.

const ROW = "[data-step='2'] [data-key], [data-step='4'] [data-key]";

/**
 * Listen on the view's root. `readAt` reads a coordinate, `settled` says which one is read while none is pointed at,
 * `point` shows the products of a key.
 */
export const listen = (root, room, { readAt, settled, point }) => {
  const { page, reading } = room;
  const fixed = (space, at) => page.set({ [space === "match" ? "coordinate" : "passed"]: at });

  // The coordinate at a place: {space, at}, or null.
  const place = (event) => {
    const strip = event.target.closest?.(".strip");
    if (!strip) return null;
    const { left, width } = strip.getBoundingClientRect();
    const { space } = strip.dataset;
    const { of } = reading[space];
    return { space, at: Math.min(Math.max(Math.floor(((event.clientX - left) / width) * of), 0), of - 1) };
  };

  const rest = () => {
    if (!room.walk) return;
    point(room.walk.key);
    for (const space of ["match", "pass"]) readAt(space, settled(space));
  };

  root.addEventListener("pointermove", (event) => {
    const found = place(event);
    if (found && found.at !== reading[found.space].at) readAt(found.space, found.at);
  });
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch" || !room.walk) return;
    const row = event.target.closest?.(ROW);
    if (!event.target.closest?.(".strip")) rest();
    point(row ? Number(row.dataset.key) : room.walk.key);
  });
  root.addEventListener("pointerleave", rest);
  root.addEventListener("click", (event) => {
    const [found, row] = [place(event), event.target.closest?.(ROW)];
    if (event.target.closest("input, button") || (!found && !row)) return;
    const key = row ? { key: Number(row.dataset.key) } : {};
    page.set({ ...key, ...(found && { [found.space === "match" ? "coordinate" : "passed"]: found.at }) });
  });

  // Of a strip, or in the keys: the coordinate that a key goes to.
  const onward = (event, slider, { at, of }) => {
    const along = { ArrowLeft: at - 1, ArrowRight: at + 1 };
    const more = slider ? { ArrowDown: at - 1, ArrowUp: at + 1, Home: 0, End: of - 1 } : {};
    const to = { ...along, ...more }[event.key];
    return to === undefined ? null : Math.min(Math.max(to, 0), of - 1);
  };

  root.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const slider = event.target.closest("[role=slider]");
    const among = event.target.closest("[data-focus=keys]");
    if (!slider && !among) return;
    const space = slider?.dataset.space ?? "match";
    const at = onward(event, slider, reading[space]);
    const next = among && { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const { keys, key } = room.walk;
    if (at !== null) fixed(space, at);
    else if (next) room.choose(keys[Math.min(Math.max(keys.indexOf(key) + next, 0), keys.length - 1)]);
    else if (among && ["Delete", "Backspace"].includes(event.key)) room.remove(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
};
