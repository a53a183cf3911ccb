// What the catalogue of models says of those known by name; as in models/catalogue.py.

/** The models that were trained on English alone. */
export const ENGLISH = ["minilm", "smollm2"];

/** The bits of the weights of those that are rounded to a few. @type {Record<string, number>} */
export const BITS = { smollm2: 4, e5: 4 };

/** A model's name, with the bits of its weights if they were rounded to a few. @type {(page: Page, name: string) => string} */
export const modelSaid = (page, name) =>
  Object.hasOwn(BITS, name) ? page.say("model.bits", { model: name, bits: BITS[name] }) : name;
