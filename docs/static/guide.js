// The guide's own script: the theme's buttons say what they do in the guide's language, large live pages are loaded when
// they are asked for, and all are as dark as the guide.

(() => {
  const buttons = JSON.parse(document.getElementById("buttons").textContent);
  for (const [parts, name] of Object.entries(buttons))
    for (const part of document.querySelectorAll(parts)) {
      part.setAttribute("aria-label", name);
      part.title = name;
    }

  for (const held of document.querySelectorAll("details.live"))
    held.addEventListener("toggle", () => {
      const frame = held.querySelector("iframe");
      if (held.open && !frame.src) frame.src = frame.dataset.src;
    });

  const frames = document.querySelectorAll("iframe.live");
  /** A page of Eyeline that is told so takes this theme instead of the system's. */
  const tell = (frame) => {
    const { theme } = document.body.dataset;
    frame.contentWindow?.postMessage({ eyelineTheme: theme === "auto" ? null : theme }, "*");
  };
  for (const frame of frames) frame.addEventListener("load", () => tell(frame));
  new MutationObserver(() => frames.forEach(tell)).observe(document.body, { attributeFilter: ["data-theme"] });
})();
