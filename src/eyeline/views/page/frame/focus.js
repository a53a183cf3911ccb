// The focus stays in the page: where a part that has it is rebuilt or vanishes, its successor gets it, or the panel.

const FOCUSABLE = "button, input, select, textarea, summary, a[href], [tabindex]";

/**
 * What makes a part the successor of another.
 * @typedef {{ id: string, focus: string | null, tag: string, role: string | null, name: string }} Mark
 */

/** @type {(part: Element) => string} */
const nameOf = (part) => part.getAttribute("aria-label") ?? (part.textContent ?? "").trim().slice(0, 80);

/** @type {(part: Element) => Mark} */
const markOf = (part) => ({
  id: part.id,
  focus: part.getAttribute("data-focus"),
  tag: part.localName,
  role: part.getAttribute("role"),
  name: nameOf(part),
});

/** @type {(part: Element) => boolean} */
const takesFocus = (part) =>
  part.isConnected && part.matches(FOCUSABLE) && !part.matches(":disabled") && part.checkVisibility();

/** @type {(frame: HTMLElement, mark: Mark) => HTMLElement | undefined} */
const successor = (frame, mark) => {
  const all = /** @type {HTMLElement[]} */ ([...frame.querySelectorAll(FOCUSABLE)].filter(takesFocus));
  return (
    all.find((part) => mark.id && part.id === mark.id) ??
    all.find((part) => mark.focus && part.getAttribute("data-focus") === mark.focus) ??
    all.find((part) => part.localName === mark.tag && part.getAttribute("role") === mark.role &&
      nameOf(part) === mark.name)
  );
};

/**
 * Keep the focus within a frame; returns a function that stops this. Without it the keys would go to whatever is around
 * the page: in a notebook to the commands of its cells.
 * @type {(frame: HTMLElement, panel: HTMLElement) => () => void}
 */
export const keepFocus = (frame, panel) => {
  const root = /** @type {Document | ShadowRoot} */ (frame.getRootNode());
  /** @type {Element | null} The part that has the focus, or had it when it was taken out. */
  let last = null;
  /** @type {Mark | null} */
  let mark = null;
  /** @param {FocusEvent} event */
  const entered = ({ target }) => {
    if (!(target instanceof Element)) return;
    [last, mark] = [target, markOf(target)];
  };
  // A part that loses the focus and stays was left by the reader; one that was taken out is gone once the script ends.
  const left = () => {
    const one = last;
    queueMicrotask(() => {
      if (one && one === last && root.activeElement !== one && takesFocus(one)) last = null;
    });
  };
  // While a text is typed this is asked with every key: whether a part is drawn would make the browser lay the page out.
  const stays = (/** @type {Element} */ part) =>
    part.isConnected && part.localName === "textarea" && !part.closest("[hidden], :disabled, details:not([open])");
  const settle = () => {
    const active = root.activeElement;
    if (active && active === last && stays(active)) return;
    const nowhere = !active || active === document.body || active === last;
    if (!last || !mark || !nowhere || takesFocus(last) || frame.querySelector("dialog[open]")) return;
    (successor(frame, mark) ?? panel).focus({ preventScroll: true });
  };
  const watch = new MutationObserver(settle);
  watch.observe(frame, { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden", "disabled"] });
  frame.addEventListener("focusin", entered);
  frame.addEventListener("focusout", left);
  return () => {
    watch.disconnect();
    frame.removeEventListener("focusin", entered);
    frame.removeEventListener("focusout", left);
  };
};
