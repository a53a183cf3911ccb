import { element } from "./dom.js";

export const createCompare = (page) => ({
  element: element("p", {}, "compare"),
  update() {},
  numbers: () => ({ name: "compare", columns: [], rows: [] }),
  picture: () => "",
});
