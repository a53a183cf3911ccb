import { element } from "./dom.js";

export const createSentence = (page) => ({
  element: element("p", {}, "sentence"),
  update() {},
  numbers: () => ({ name: "sentence", columns: [], rows: [] }),
  picture: () => "",
});
