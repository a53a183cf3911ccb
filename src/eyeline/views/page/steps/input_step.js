// Step 0 of the steps view: x, what the projections take of each token.

import { element, phrase } from "../drawing/dom.js";
import { most, strip } from "../drawing/vector_strips.js";
import { lengthOf } from "../weights/projections.js";
import { datum, heads, row, sign, sized, slider, step, word } from "./elements.js";

/** Where x comes from, in a sentence. @type {(room: StepsRoom, made: Projections) => Child} */
const source = ({ page, walk }, made) => {
  const { layer } = walk;
  const named = { word: word(walk.word, "query"), norm: made.before ?? "" };
  const told = { ...named, layer: String(layer), before: String(layer - 1) };
  if (walk.trace.crossing) return phrase(page.say("steps.x.crossing"), told);
  const sum = made.embedded ? "steps.x.embedding.normed" : "steps.x.embedding.sum";
  if (layer === 0) return phrase(page.say(made.words ? sum : "steps.x.embedding"), told);
  return phrase(page.say(made.before ? "steps.x.normed" : "steps.x.layer"), told);
};

/** @type {(room: StepsRoom, made: Projections) => HTMLElement[]} */
const embeddings = (room, made) => {
  const { page, walk } = room;
  const { words, positions, narrow } = made;
  if (!words || !positions) return [];
  /** @type {(array: Float32Array) => Float32Array} */
  const own = (array) => array.subarray(walk.token * narrow, (walk.token + 1) * narrow);
  const end = most(own(words), own(positions));
  /** @type {(kind: "word" | "position", mark: string, values: Float32Array) => HTMLElement} */
  const part = (kind, mark, values) => {
    const name = page.say(`steps.x.${kind}`);
    const drawn = strip(room, { space: "input", values, end, name });
    return row([sign(mark), name], drawn, room.tell("input", (at) => values[at] ?? NaN));
  };
  // Their scale is their own: the norm makes x's numbers larger.
  return [heads(room, end, "input"), part("word", "", own(words)), part("position", "+", own(positions))];
};

/** Step 0. @type {(room: StepsRoom, made: Projections) => HTMLElement} */
export const inputStep = (room, made) => {
  const { page, walk } = room;
  const [x, of] = [made.input("query", walk.token), made.input("key", walk.key)];
  const end = most(x, of);
  const [name, other] = [walk.word, walk.label(walk.key)].map((one) => page.say("steps.x.of", { word: one }));
  const parts = embeddings(room, made);
  const length = { length: datum(lengthOf(x)), word: word(walk.word, "query") };
  return step(
    page,
    { nth: "0", title: page.say("steps.name.0"), shape: sized("x", 1, made.width), why: source(room, made) },
    parts,
    heads(room, end, "input"),
    row(
      [parts.length ? sign("→") : null, word(walk.word, "query")],
      strip(room, { space: "input", values: x, end, name, attributes: slider(room, "input", name, "x-strip") }),
      room.tell("input", (at) => x[at]),
    ),
    walk.key === walk.token && !walk.trace.crossing
      ? null
      : row(
          word(walk.label(walk.key), "key"),
          strip(room, { space: "input", values: of, end, name: other }),
          room.tell("input", (at) => of[at]),
        ),
    element("p", { class: "sum" }, phrase(page.say("steps.x.length"), length)),
  );
};
