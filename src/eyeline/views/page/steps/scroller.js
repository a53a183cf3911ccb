// Which step one is at: the one across a line in the upper half of the window, or where the focus is.

const LINE = "-38% 0px -61% 0px"; // what is left of the window: a line

/**
 * Scroll to a step. In a frame, as in the guide, the page around it stays where it is: it isn't the reader's will that
 * it moves.
 * @type {(step: Element) => void}
 */
const scrollTo = (step) => {
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  const { scrollHeight, clientHeight } = document.documentElement;
  if (parent === window || scrollHeight <= clientHeight) {
    step.scrollIntoView({ block: "start", behavior });
    return;
  }
  const margin = Number.parseFloat(getComputedStyle(step).scrollMarginTop) || 0;
  window.scrollBy({ top: step.getBoundingClientRect().top - margin, behavior });
};

/**
 * Watches the steps of a root; `arrived` is called with the number of the step that one comes to.
 * @param {HTMLElement} root
 * @param {(at: number) => void} arrived
 */
export const createScroller = (root, arrived) => {
  let here = -1;
  /** @type {Map<Element, boolean>} */
  const across = new Map();

  /** @type {(step: Element | null | undefined) => void} */
  const come = (step) => {
    const at = Number(step?.getAttribute("data-step") ?? NaN);
    if (Number.isNaN(at) || at === here) return;
    here = at;
    arrived(at);
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) across.set(target, isIntersecting);
      come([...across.keys()].find((step) => across.get(step)));
    },
    { rootMargin: LINE },
  );
  // The last step may be too short to reach the line.
  const last = new IntersectionObserver((entries) => {
    const [{ target, isIntersecting }] = entries.slice(-1);
    const top = root.querySelector("[data-step]")?.getBoundingClientRect().top ?? 0;
    if (isIntersecting && top < 0) come(target.previousElementSibling);
  });
  /** @type {(event: FocusEvent) => void} */
  const focused = ({ target }) => {
    if (target instanceof Element) come(target.closest("[data-step]"));
  };
  root.addEventListener("focusin", focused);
  return {
    /** Watch the steps that the root has now. */
    watch: () => {
      observer.disconnect();
      last.disconnect();
      across.clear();
      const steps = [...root.querySelectorAll(":scope > [data-step]")];
      for (const step of steps) observer.observe(step);
      const end = root.querySelector(":scope > .end");
      if (end) last.observe(end);
      arrived(here < 0 ? Number(steps[0]?.getAttribute("data-step") ?? 0) : here);
    },
    /** Scroll to a step. @param {number} at */
    go: (at) => {
      const step = root.querySelector(`:scope > [data-step="${at}"]`);
      if (!step) return;
      scrollTo(step);
      come(step);
    },
    end: () => {
      observer.disconnect();
      last.disconnect();
    },
  };
};
