import { element } from "./dom.js";

export const createOverview = (page) => ({
  element: element("p", {}, "overview"),
  update() {},
  numbers: () => ({ name: "overview", columns: [], rows: [] }),
  picture: () => "",
});
