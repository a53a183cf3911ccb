import { element } from "./dom.js";

export const createMatrix = (page) => ({
  element: element("p", {}, "matrix"),
  update() {},
  numbers: () => ({ name: "matrix", columns: [], rows: [] }),
  picture: () => "",
});
