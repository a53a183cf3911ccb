// Building elements without markup: a user's text is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** The nodes of a child: lists are flattened, empty ones left out. @type {(child: Child) => (Node | string)[]} */
export const nodesOf = (child) => {
  if (Array.isArray(child)) return child.flatMap(nodesOf);
  if (child === null || child === undefined || child === false) return [];
  return [child instanceof Node ? child : String(child)];
};

/**
 * @template {HTMLElement | SVGElement} T
 * @param {T} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
const fill = (node, { on = {}, style = {}, ...others }, children) => {
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  for (const [property, setting] of Object.entries(style)) {
    if (setting !== null && setting !== undefined) node.style.setProperty(property, String(setting));
  }
  for (const [name, value] of Object.entries(others)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodesOf(children));
  return node;
};

/**
 * An HTML element: attributes by name, listeners under `on`, style properties under `style`; strings become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * An SVG element, likewise.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/**
 * The 2D context of a canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2DSettings} [settings]
 */
export const contextOf = (canvas, settings) => {
  const context = canvas.getContext("2d", settings);
  if (!context) throw new Error("this browser draws no canvases");
  return context;
};

/**
 * The event's target, or its nearest ancestor that matches a selector; null if there is none.
 * @type {(event: Event, selector?: string) => HTMLElement | null}
 */
export const targetOf = ({ target }, selector = "*") => (target instanceof Element ? target.closest(selector) : null);

/**
 * A drop-down list with options [value, text]; `chosen` is called with the chosen value.
 * @param {string} label
 * @param {readonly (readonly [value: string | number, text: string])[]} options
 * @param {string | number} value
 * @param {(value: string) => void} chosen
 */
export const choice = (label, options, value, chosen) => {
  /** @type {HTMLSelectElement} */
  const list = element("select", { "aria-label": label, on: { change: () => chosen(list.value) } });
  list.append(...options.map(([option, text]) => element("option", { value: option }, text)));
  list.value = String(value);
  return list;
};

/**
 * A checkbox with its text.
 * @type {(text: string, ticked: boolean, changed: (ticked: boolean) => void) => HTMLLabelElement}
 */
export const tick = (text, ticked, changed) => {
  /** @type {HTMLInputElement} */
  const box = element("input", { type: "checkbox", on: { change: () => changed(box.checked) } });
  box.checked = ticked;
  return element("label", { class: "tick" }, box, text);
};

/** A button. @type {(text: Child, pressed: () => void, attributes?: Attributes) => HTMLButtonElement} */
export const button = (text, pressed, attributes = {}) =>
  element("button", { type: "button", ...attributes, on: { click: pressed } }, text);

/**
 * A text with {names} replaced by elements or texts, as a list of children.
 * @type {(text: string, parts: Record<string, Child>) => Child[]}
 */
export const phrase = (text, parts) =>
  text.split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? (parts[piece] ?? `{${piece}}`) : piece));
