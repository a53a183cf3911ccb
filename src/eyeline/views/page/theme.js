// Whether the host is dark: a notebook marks its body or root, a page around ours says so, else the system decides. Paper is
// light.

/** A media query, and whether it holds: to ask the browser each time would have it compute the page's style. @type {(query: string) => { list: MediaQueryList, holds: boolean }} */
const watched = (query) => {
  const list = matchMedia(query);
  const kept = { list, holds: list.matches };
  list.addEventListener("change", () => (kept.holds = list.matches));
  return kept;
};
const night = watched("(prefers-color-scheme: dark)");
const paper = watched("print");
/** What the page says that has this one in a frame, as the guide does: { eyelineTheme: "dark" }. @type {string | null} */
let around = null;
let printed = false; // between the browser's beforeprint and afterprint

/** Whether the host is dark. JupyterLab, VS Code and Colab each mark it differently. */
export const hostIsDark = () => {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false";
  if (vscodeThemeKind) return vscodeThemeKind.includes("dark") || vscodeThemeKind === "vscode-high-contrast";
  return around ? around === "dark" : document.documentElement.getAttribute("theme") === "dark" || night.holds;
};

/** Whether the document is being printed. */
export const isPrinting = () => printed || paper.holds;

/**
 * Call a function when the theme changes, and before and after printing; returns a function that stops this.
 * @type {(changed: () => void) => () => void}
 */
export const onHostTheme = (changed) => {
  const watch = new MutationObserver(changed);
  watch.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  watch.observe(document.documentElement, { attributeFilter: ["theme"] });
  const begin = () => {
    printed = true;
    changed();
  };
  const end = () => {
    printed = false;
    changed();
  };
  /** @type {(event: MessageEvent) => void} */
  const told = ({ source, data }) => {
    if (parent === window || source !== parent || !["dark", "light", null].includes(data?.eyelineTheme)) return;
    around = data.eyelineTheme;
    changed();
  };
  addEventListener("message", told);
  night.list.addEventListener("change", changed);
  paper.list.addEventListener("change", changed);
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  return () => {
    watch.disconnect();
    removeEventListener("message", told);
    night.list.removeEventListener("change", changed);
    paper.list.removeEventListener("change", changed);
    removeEventListener("beforeprint", begin);
    removeEventListener("afterprint", end);
  };
};
