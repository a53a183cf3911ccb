// Whether what shows the page is dark: a notebook says so on its body or root, else the system does.

const night = matchMedia("(prefers-color-scheme: dark)");

/** Whether the host is dark. JupyterLab, VS Code and Colab each say it in their own way. */
export const hostIsDark = () => {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "false";
  if (vscodeThemeKind) return vscodeThemeKind.includes("dark") || vscodeThemeKind === "vscode-high-contrast";
  return document.documentElement.getAttribute("theme") === "dark" || night.matches;
};

/**
 * Have a function called when that changes, until the function that comes back is called.
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
