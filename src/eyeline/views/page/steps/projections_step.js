// Step 1 of the steps view: q, k and v, each a matrix times x, as pictures and coordinate by coordinate.

import { button, element, phrase } from "../drawing/dom.js";
import { figure } from "../drawing/labels.js";
import { scaleBar } from "../drawing/scale_bar.js";
import { bars, climb, most, strip } from "../drawing/vector_strips.js";
import { running } from "./formula.js";
import { datum, heads, row, sign, step, word } from "./elements.js";
import { matrix, matrixEnd } from "./matrix_picture.js";

/** @type {Role[]} */
const ROLES = ["query", "key", "value"];

/**
 * The token whose vector a role makes: the query's, or the chosen key's.
 * @type {(walk: Walkthrough, role: Role) => number}
 */
const tokenOf = (walk, role) => (role === "query" ? walk.token : walk.key);

/** The label of that token. @type {(walk: Walkthrough, role: Role) => string} */
const labelOf = (walk, role) => (role === "query" ? walk.word : walk.label(walk.key));

/** The space of a role's coordinates. @type {(role: Role) => Space} */
export const spaceOf = (role) => (role === "value" ? "pass" : "match");

/**
 * The products that make one coordinate of a role's vector. (width)
 * @type {(walk: Walkthrough, made: Projections, role: Role, at: number) => Float64Array}
 */
export const takenApart = (walk, made, role, at) =>
  made.products(role, tokenOf(walk, role), Math.min(at, made.of[role].rows - 1));

/** "q = W_q·x + b_q", with what follows. @type {(made: Projections, role: Role) => Child[]} */
const equation = (made, role) => {
  const { letter, b } = made.of[role];
  /** @type {(symbol: string) => Child[]} */
  const indexed = (symbol) => [symbol, element("sub", {}, letter)];
  return [element("b", { class: `word ${role}` }, letter), " = ", indexed("W"), "·x", b ? [" + ", indexed("b")] : ""];
};

/** What a role's vector is in the trace, after norms and turns. @type {(walk: Walkthrough, role: Role) => Numbers} */
const usedOf = (walk, role) =>
  role === "query" ? walk.query : role === "key" ? walk.keyOf(walk.key) : walk.valueOf(walk.key);

/** The end of a scale beyond which a few numbers lie. @type {(value: number) => string} */
const beyond = (value) => `${value < 0 ? "≤" : "≥"} ${figure(value)}`;

/** One projection as a picture. @type {(room: StepsRoom, made: Projections, role: Role) => HTMLElement} */
const picture = (room, made, role) => {
  const { page, walk } = room;
  const { letter, W, b, rows } = made.of[role];
  const [token, space] = [tokenOf(walk, role), spaceOf(role)];
  const [x, result, used] = [made.input(role, token), made.made(role, token), usedOf(walk, role)];
  const [end, out] = [matrixEnd(W), most(result, used)];
  const label = labelOf(walk, role);
  /** @type {(kind: string, numbers: Numbers, most: number, name: string, attributes?: Attributes) => HTMLElement} */
  const column = (kind, numbers, highest, name, attributes) =>
    matrix(room, { numbers, rows, columns: 1, end: highest, name, space, kind: `column ${kind}`, attributes });
  const [turned, shape] = [made.changes(role), `W: ${rows} × ${made.width}`];
  const name = page.say(`steps.${role}.of`, { word: label });
  /** @type {(text: Child) => HTMLElement} */
  const above = (text) => element("span", { class: "above", "aria-hidden": "true" }, text);
  return element(
    "div",
    { class: `projection ${role}` },
    element("h4", {}, element("span", {}, equation(made, role)), element("span", { class: "shape" }, shape)),
    element(
      "div",
      { class: "product", style: { "--columns": 1 + Number(b !== null) + Number(turned) } },
      element(
        "div",
        { class: "x" },
        above(["x · ", word(label, role)]),
        strip(room, { space: "input", values: x, end: most(x), name: page.say("steps.x.of", { word: label }) }),
      ),
      b ? above("+ b") : null,
      above(turned ? "=" : ["= ", letter]),
      turned ? above(["→ ", letter]) : null,
      matrix(room, {
        numbers: W, rows, columns: made.width, end, space, kind: "whole",
        name: page.say("steps.matrix.of", { letter, rows, columns: made.width }),
        attributes: { "data-role": role },
      }),
      b ? column("bias", b, most(b) || 1, page.say("steps.bias")) : null,
      column("made", result, out || 1, turned ? page.say("steps.made.of", { word: label }) : name),
      turned ? column("used", used, out || 1, name) : null,
    ),
    element(
      "div",
      { class: "under" },
      element("span", { class: "named" }, "W", scaleBar(room, { end, signed: true, said: beyond })),
      element("span", { class: "named" }, letter, scaleBar(room, { end: out || 1, signed: true, digits: 2 })),
    ),
  );
};

/**
 * The line that says what became of the sum.
 * @type {(room: StepsRoom, made: Projections, role: Role, at: number) => Child}
 */
const outcome = ({ page, walk }, made, role, at) => {
  const { letter, b } = made.of[role];
  const sum = takenApart(walk, made, role, at).reduce((total, part) => total + part, 0);
  const bias = b ? b[at] : 0;
  const told = {
    count: String(made.width), sum: datum(sum), bias: datum(bias), value: datum(sum + bias), coordinate: String(at),
    letter: element("b", { class: `word ${role}` }, letter), used: datum(usedOf(walk, role)[at]),
  };
  const said = phrase(page.say(b ? "steps.apart.sum" : "steps.apart.sum.only"), told);
  return made.changes(role) ? [said, " ", phrase(page.say("steps.apart.turned"), told)] : said;
};

/** One coordinate taken apart. @type {(room: StepsRoom, made: Projections, role: Role) => HTMLElement} */
const apart = (room, made, role) => {
  const { page, walk, reading } = room;
  const token = tokenOf(walk, role);
  const x = made.input(role, token);
  const { W, letter, rows } = made.of[role];
  const at = Math.min(reading[spaceOf(role)].at, rows - 1);
  const line = W.subarray(at * made.width, (at + 1) * made.width);
  const products = takenApart(walk, made, role, at);
  const sums = running(products);
  /** @type {Space} */
  const space = "input";
  /** @type {(label: Child, drawn: HTMLElement, numbers: Numbers) => HTMLElement} */
  const told = (label, drawn, numbers) => row(label, drawn, room.tell(space, (place) => numbers[place]));
  const [title, soFar] = [page.say("steps.products.of", { letter, coordinate: at }), page.say("steps.so.far")];
  const [named, label] = [page.say("steps.row", { letter, coordinate: at }), labelOf(walk, role)];
  const name = page.say("steps.x.of", { word: label });
  return element(
    "div",
    { class: "apart" },
    heads(room, null, space),
    told(["x · ", word(label, role)], strip(room, { space, values: x, end: most(x), name }), x),
    told([sign("×"), named], strip(room, { space, values: line, end: matrixEnd(W), name: named }), line),
    told([sign("="), page.say("steps.product")], bars(room, { space, values: products, name: title }), products),
    told([sign("Σ"), soFar], climb(room, { space, values: sums, name: soFar }), sums),
    element("p", { class: "sum" }, outcome(room, made, role, at)),
  );
};

/**
 * The choice of what is taken apart, and the coordinate.
 * @type {(room: StepsRoom, made: Projections) => HTMLElement}
 */
const chooser = (room, made) => {
  const { page, role, reading } = room;
  const at = role ? reading[spaceOf(role)].at : 0;
  /** @type {(one: Role) => HTMLElement} */
  const choice = (one) =>
    button(page.say("steps.apart", { letter: made.of[one].letter }), () => room.takeApart(role === one ? null : one), {
      class: "plain", "aria-pressed": String(role === one), "data-focus": `apart-${one}`,
    });
  if (!role) return element("div", { class: "choose" }, ROLES.map(choice));
  const setting = role === "value" ? "passed" : "coordinate";
  const field = element("input", {
    type: "number", min: 0, max: made.of[role].rows - 1, value: at, "data-focus": "apart-at",
    "aria-label": page.say("steps.coordinate"),
    on: { change: () => page.set({ [setting]: Math.trunc(Number(field.value)) || 0 }) },
  });
  field.value = String(at);
  return element(
    "div",
    { class: "choose" },
    ROLES.map(choice),
    element("label", {}, element("span", { class: "caption" }, page.say("steps.coordinate")), field),
  );
};

/** Step 1. @type {(room: StepsRoom, made: Projections) => HTMLElement} */
export const projectionsStep = (room, made) => {
  const { page, walk, role } = room;
  const told = { word: word(walk.word, "query"), key: word(walk.label(walk.key), "key") };
  const shape = `${made.width} → ${walk.head.D}`;
  const remarks = [
    made.changes("query") ? page.say(made.of.query.norm ? "steps.normed" : "steps.turned") : null,
    made.rounded ? page.say("steps.rounded") : null,
  ];
  return step(
    page,
    { nth: "1", title: page.say("steps.name.1"), shape, why: phrase(page.say("steps.made.why"), told) },
    element("div", { class: "projections" }, ROLES.map((one) => picture(room, made, one))),
    remarks.filter(Boolean).map((remark) => element("p", { class: "remark" }, remark)),
    chooser(room, made),
    role ? apart(room, made, role) : null,
  );
};

/**
 * In place of steps 0 and 1, or of step 6, where the host doesn't have the head's matrices: where they are to be had.
 * @type {(room: StepsRoom, nth: string) => HTMLElement}
 */
export const missingStep = ({ page, walk }, nth) => {
  const { trace } = walk;
  const there = trace.projections === "all" || !trace.projections ? [] : trace.projections;
  /** @type {(place: [number, number]) => HTMLElement} */
  const go = ([layer, head]) => {
    const attributes = { class: "plain", "data-focus": `has-${layer}-${head}` };
    return button(`L${layer}H${head}`, () => page.set({ layer, head }), attributes);
  };
  const told = { layer: walk.layer, head: walk.number };
  return step(
    page,
    { nth, title: page.say(`steps.name.${nth}`), shape: "", why: page.say(`steps.without.${nth}`) },
    element(
      "p",
      { class: "missing" },
      page.say(there.length ? "steps.elsewhere" : "steps.without", told),
      there.length ? [" ", there.map(go)] : null,
    ),
  );
};
