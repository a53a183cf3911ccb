// The widget's own module, which a notebook saves with every view, so it is small. It asks the kernel for the page's
// modules, once for all views of a document, and draws a still picture where no kernel answers.

const SOON = 1500; // milliseconds without an answer after which the still picture is drawn

/** A bar of the still picture. @typedef {{ label: string, number: string, length: number, aside: boolean, own: boolean }} StillRow */
/**
 * @typedef {{
 *   language: string, title: string, about: string, says: string, rows: StillRow[], rest: string, scale: string, note: string,
 * }} Still
 */
/** The page's modules in a document: what they will be, what takes them, and whether a view has asked for them.
 * @typedef {{ main: Promise<Main>, take: (main: Promise<Main>) => void, asked: boolean }} Slot */
/**
 * @typedef {HostModel & {
 *   get(name: "asset"): string, get(name: "still"): Still | null, send(request: object): void,
 *   off(event: string, listener: Function): void,
 * }} WidgetModel
 */

/** The place of the modules with this hash, shared by all views. @type {(hash: string) => Slot} */
const slotOf = (hash) => {
  const slots = (/** @type {any} */ (globalThis).eyelinePages ??= {});
  if (!slots[hash]) {
    /** @type {any} */
    const slot = { asked: false };
    slot.main = new Promise((done) => {
      slot.take = done;
    });
    slots[hash] = slot;
  }
  return slots[hash];
};

/** A text that came compressed. @type {(bytes: Bytes) => Promise<string>} */
const textOf = (bytes) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();

/** The page's modules and its style, as the kernel sends them. @type {(buffers: Bytes[]) => Promise<Main & { css: string }>} */
const loaded = async ([module, style]) => {
  const url = URL.createObjectURL(new Blob([await textOf(module)], { type: "text/javascript" }));
  const { default: main } = await import(url);
  URL.revokeObjectURL(url);
  return { ...main, css: await textOf(style) };
};

/** Put the style beside an element, once. @type {(el: HTMLElement, css: string, hash: string) => void} */
const dress = (el, css, hash) => {
  const root = el.getRootNode();
  const within = root instanceof ShadowRoot ? root : document.head;
  if (within.querySelector(`style[data-eyeline="${hash}"]`)) return;
  const style = document.createElement("style");
  style.dataset.eyeline = hash;
  style.textContent = css;
  within.append(style);
};

/** An element with a text. @type {(tag: string, text: string, style?: string) => HTMLElement} */
const part = (tag, text, style = "") => {
  const made = document.createElement(tag);
  made.textContent = text;
  made.style.cssText = style;
  return made;
};

/** The still picture. @type {(still: Still) => HTMLElement} */
const drawn = (still) => {
  const table = document.createElement("table");
  for (const { label, number, length, aside, own } of still.rows) {
    const row = table.insertRow();
    const bar = part("div", "", `height: 12px; width: ${200 * length}px; background: ${aside ? "#7d7d7d" : "#8b66d6"}`);
    const room = part("td", "", "width: 200px");
    room.append(bar);
    row.append(part("td", label, own ? "font-weight: bold" : ""), room, part("td", number, "text-align: right"));
  }
  const figure = document.createElement("section");
  figure.lang = still.language;
  figure.append(part("h3", still.title), part("p", still.about), part("p", still.says, "font-weight: bold"), table);
  for (const text of [still.rest, still.scale, still.note]) if (text) figure.append(part("p", text));
  return figure;
};

/** Show the page, or the still picture until it is there. @param {{ model: WidgetModel, el: HTMLElement }} shown */
const render = ({ model, el }) => {
  const hash = model.get("asset");
  const slot = slotOf(hash);
  /** @type {(() => void) | null} */
  let end = null;
  let ended = false;

  /** @type {(reply: any, buffers?: Bytes[]) => Promise<void>} */
  const answered = async (reply, buffers = []) => {
    if (reply?.kind !== "module") return;
    if (buffers.length) slot.take(loaded(buffers));
    const main = await slot.main;
    if (ended || end) return;
    clearTimeout(timer);
    dress(el, /** @type {any} */ (main).css, hash);
    el.replaceChildren();
    end = main.render({ model, el });
  };

  /** Ask for the modules; `whole` if they are still needed. @type {(whole: boolean) => void} */
  const ask = (whole) => {
    try {
      model.send({ kind: "module", whole });
    } catch {
      // An exported notebook has no kernel: the still picture remains.
    }
  };

  const timer = setTimeout(() => {
    const still = model.get("still");
    if (still && !end) el.replaceChildren(drawn(still));
    ask(true); // the view that asked first may have lost its kernel
  }, SOON);
  model.on("msg:custom", answered);
  ask(!slot.asked);
  slot.asked = true;
  return () => {
    ended = true;
    clearTimeout(timer);
    model.off("msg:custom", answered);
    end?.();
  };
};

export default { render };
