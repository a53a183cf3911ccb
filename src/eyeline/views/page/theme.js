// Whether the host is dark: a notebook marks its body or root, else the system decides.

const night = matchMedia("(prefers-color-scheme: dark)");

/** Whether the host is dark. JupyterLab, VS Code and Colab each mark it differently. */
export const hostIsDark = () => {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false";
  if (vscodeThemeKind) return vscodeThemeKind.includes("dark") || vscodeThemeKind === "vscode-high-contrast";
  return document.documentElement.getAttribute("theme") === "dark" || night.matches;
};

/**
 * Call a function when the theme changes; returns a function that stops this.
 * @type {(changed: () => void) => () => void}
 */
export const onHostTheme = (changed) => {
  const watch = new MutationObserver(changed);
  watch.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  watch.observe(document.documentElement, { attributeFilter: ["theme"] });
  night.addEventListener("change", changed);
  return () => {
    watch.disconnect();
    night.removeEventListener("change", changed);
  };
};
