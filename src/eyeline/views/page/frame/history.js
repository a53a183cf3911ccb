// The address of a page that has one, and the steps of the browser's Back and Forward.

import { wordsIn } from "../state.js";

/** The settings that open something: each change of them is a step that Back takes back. */
const OPENED = ["view", "trace", "layer", "head", "token", "other", "own", "stop", "edits"];

/** The settings of the reader, which Back leaves alone. */
const LASTING = ["language", "theme", "done"];

const REST = 300; // milliseconds after the last key until the address says what was typed

/** The address of some words: spaces become "&". @type {(words: string) => string} */
const addressed = (words) => `#${words.replaceAll(" ", "&")}`;

/**
 * The page's address, if it has one: `note` writes the state into it after a change, `begin` restores the state from
 * it, `stop` ends listening to Back and Forward.
 * @param {Framed} page
 */
export const createHistory = (page) => {
  let opened = "";
  let travelling = false; // while Back or Forward, or the first opening, changes the state
  let waiting = 0; // the number of states whose texts are being run
  const openedNow = () => JSON.stringify(OPENED.map((key) => page.state[key]));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  let owed = ""; // the address of what is being typed: browsers allow so many changes in a minute
  /** @type {(address: string, step: boolean) => void} */
  const write = (address, step) => {
    clearTimeout(later);
    owed = "";
    try {
      // The mark distinguishes a step of ours from an address that someone typed.
      history[step ? "pushState" : "replaceState"]({ eyeline: true }, "", address);
    } catch {
      // Browsers allow so many changes of the address in a minute: the page works without.
    }
  };
  const note = () => {
    if (waiting) return;
    // In a frame, Back belongs to the page around it.
    const step = openedNow() !== opened && !travelling && !page.following && parent === window;
    opened = openedNow();
    const address = addressed(page.words);
    if (page.following) {
      clearTimeout(later);
      owed = address;
      later = setTimeout(write, REST, address, false);
      return;
    }
    if (owed) write(owed, false);
    if (step || address !== location.hash) write(address, step);
  };
  /** @type {(words: string, kept?: Record<string, any>) => void} */
  const travel = (words, kept = {}) => {
    travelling = true;
    const made = page.restore(words, kept);
    travelling = false;
    if (!made) return;
    waiting += 1;
    made.finally(() => {
      waiting -= 1;
      travelling = true;
      note();
      travelling = false;
    });
  };
  /** @param {Event} event */
  const arrived = (event) => {
    const words = wordsIn(location.hash);
    clearTimeout(later);
    owed = "";
    if (addressed(words) === addressed(page.words)) return;
    const ours = event instanceof PopStateEvent && event.state?.eyeline;
    travel(words, ours ? Object.fromEntries(LASTING.map((key) => [key, page.state[key]])) : {});
  };
  return {
    note,
    begin() {
      addEventListener("popstate", arrived);
      addEventListener("hashchange", arrived);
      const words = wordsIn(location.hash);
      travel(words);
      if (waiting) page.set(page.read(words.replace(/(?:^|[\s&])(?:trace|other|own|edits|stop)=\S+/g, " "))); // meanwhile
    },
    stop() {
      removeEventListener("popstate", arrived);
      removeEventListener("hashchange", arrived);
    },
  };
};
