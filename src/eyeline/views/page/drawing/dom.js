// Elements, built without markup: text of a user's is never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) node.style.setProperty(property, setting);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};

/** An HTML element: attributes by name, listeners under `on`, style properties under `style`; strings become text. */
export const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** The same for SVG. */
export const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** A drop-down list: options are [value, text]; `chosen` is called with the value. */
export const choice = (label, options, value, chosen) => {
  const list = element("select", { "aria-label": label, on: { change: () => chosen(list.value) } });
  list.append(...options.map(([option, text]) => element("option", { value: option }, text)));
  list.value = String(value);
  return list;
};

/** A box to tick, with its text. */
export const tick = (text, ticked, changed) => {
  const box = element("input", { type: "checkbox", on: { change: () => changed(box.checked) } });
  box.checked = ticked;
  return element("label", { class: "tick" }, box, text);
};

/** A button. */
export const button = (text, pressed, attributes = {}) =>
  element("button", { type: "button", ...attributes, on: { click: pressed } }, text);

/** A text whose {names} are filled in with elements or texts, as a list of children. */
export const phrase = (text, parts) =>
  text.split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? (parts[piece] ?? `{${piece}}`) : piece));
