// The lesson on the reader's own sentences: what says that they can be typed, and the way back to the lesson's.

import { commonWord } from "../compare/sides.js";
import { button, element } from "../drawing/dom.js";
import { stopSettings } from "../lesson/lesson.js";

/** The stops that are about a sentence; of these, the one that compares two. */
const ABOUT = ["what", "sum", "qkv", "score", "context", "masks", "heads", "limits"];
const COMPARES = "context";

/** The settings of the lesson on a typed sentence, or on two. @type {(page: Page, own: number[]) => Partial<State>} */
export const ownSettings = (page, own) => ({
  own, ...(page.state.stop === null ? {} : stopSettings(page, page.state.stop, own)),
});

/** @type {(page: Page) => OwnSentences} */
export const createOwn = (page) => {
  const box = element("p", { class: "quiet own-sentence" });
  const leave = () => page.set(ownSettings(page, []));
  /** What is said of the reader's sentences at a stop. @type {(stop: string) => string} */
  const saying = (stop) => {
    const [first, second] = page.state.own.map((at) => page.traces[at]);
    if (!first) return stop === COMPARES ? "" : page.say("typing.own");
    if (stop !== COMPARES) return page.say("typing.own.now");
    if (!second) return page.say("typing.own.two");
    return page.say(commonWord(first, second) ? "typing.own.both" : "typing.own.apart");
  };
  return {
    element: box,
    update(stop) {
      const said = ABOUT.includes(stop) ? saying(stop) : "";
      box.hidden = !said;
      const back = page.state.own.length ? button(page.say("typing.own.back"), leave, { class: "plain", "data-focus": "own-back" }) : null;
      box.replaceChildren(said, ...(back ? [" ", back] : []));
    },
  };
};
