import { element } from "./dom.js";

export const createSteps = (page) => ({
  element: element("p", {}, "steps"),
  update() {},
  numbers: () => ({ name: "steps", columns: [], rows: [] }),
  picture: () => "",
});
