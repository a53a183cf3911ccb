"""A real browser, Debian's chromium: what it takes to open pages in it, and a watch on all that a page does there."""

from __future__ import annotations

import contextlib
import os
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
WITHOUT_CARD = ("--disable-gpu", "--disable-gpu-rasterization", "--disable-software-rasterizer")
LACKING = f"these tests need a browser on PATH, one of {', '.join(NAMES)}: apt-get install chromium"


def executable() -> str:
    """The browser on PATH. Where there is none, a test fails in CI, and is skipped elsewhere."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(LACKING)
    return found


@contextlib.contextmanager
def launched() -> Iterator[Any]:
    """The browser, headless. While it runs, this thread has a running event loop: no asyncio.run in it."""
    path = executable()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=20_000)  # a machine may be busy
    with sync_playwright() as playwright:
        # Containers seldom allow its sandbox, and the pages are our own; they draw with canvases alone, which are
        # faster without an imitated graphics card.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *WITHOUT_CARD])
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """Notes what the pages of a browser's context do that a page of ours must not do. `context` is the context."""

    def __init__(self, context: Any):
        self.begin("about:blank")
        context.on("request", lambda request: self._asked(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self._asked(socket.url)))
        context.on("console", self._said)
        context.on("weberror", lambda error: self.faults.append(f"an error: {error.error}"))
        context.on("dialog", self._dialog)

    def begin(self, address: str, within: tuple[str, ...] = (), ours: Callable[[Any], bool] | None = None) -> None:
        """Begin anew, with a page of its own.

        Args:
            address: the page's own address, which it may ask for.
            within: beginnings of further addresses that it may ask for: those of a server that it was opened from.
            ours: which console messages count; all if not given.
        """
        self.faults: list[str] = []
        self._ours = ours or (lambda message: True)
        self._address = address.partition("#")[0]
        self._within = ("about:blank", "data:", "blob:", *within)

    def _asked(self, address: str) -> None:
        if address.partition("#")[0] != self._address and not address.startswith(self._within):
            self.faults.append(f"a request: {address:.200}")

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert") and self._ours(message):
            self.faults.append(f"console {message.type}: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        if dialog.type != "beforeunload":  # JupyterLab's, of what isn't saved, when its tab is left
            self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def check(self) -> None:
        """Fail if there was anything."""
        assert not self.faults, "the page did what it must not:\n" + "\n".join(self.faults)


class Tab:
    """A page in a context of its own, and the watch on it. Making one takes longer than most tests: it is used again.

    Args:
        browser: the browser.
        options: of Playwright's new_context.
    """

    def __init__(self, browser: Any, options: dict[str, Any]):
        self._context = browser.new_context(**options)
        self.watch = Watch(self._context)
        self.page = self._context.new_page()

    def begin(self, width: int, height: int, scheme: str) -> None:
        """Make it as a new one is."""
        self.page.set_default_timeout(30_000)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(media="screen", forced_colors="none", color_scheme=scheme, reduced_motion="reduce")
        self.page.mouse.move(0, 0)

    def leave(self) -> bool:
        """Leave its address, and close what was opened from it; whether it may be used again."""
        from playwright.sync_api import Error

        try:
            for page in self._context.pages:
                if page is not self.page:
                    page.close()
            self.page.goto("about:blank")
            self.page.mouse.up()
            for key in ("Control", "Shift"):
                self.page.keyboard.up(key)
        except Error:  # it is closed, or won't be left
            return False
        return not self.watch.faults

    def close(self) -> None:
        """Close it."""
        self._context.close()


#: Of each browser, the tabs that aren't in use, by the options of their contexts.
_FREE: weakref.WeakKeyDictionary[Any, dict[str, list[Tab]]] = weakref.WeakKeyDictionary()


class Opener:
    """Opens addresses, each in a tab of its own, and remembers what they did."""

    def __init__(self, browser: Any, folder: Path):
        self._browser = browser
        self._folder = folder
        self._free = _FREE.setdefault(browser, {})
        self._tabs: list[tuple[str, Tab]] = []
        self._forgiven: list[Tab] = []
        self._opened = 0

    def __call__(
        self,
        address: str | Path,
        *,
        words: str = "",
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        language: str = "en-US",
        within: tuple[str, ...] = (),
        ours: Callable[[Any], bool] | None = None,
        **options: Any,
    ) -> Any:
        """The Playwright page that shows an address.

        Args:
            address: of a server, or a file.
            words: the state to open in, as the page's address has it: "view=matrix layer=2".
            width, height: of the window.
            dark: whether the system is dark.
            language: the reader's.
            within: as for `Watch`: a file is opened offline, and may ask for nothing.
            ours: as for `Watch`.
            options: further ones of Playwright's new_context.
        """
        address = address.as_uri() if isinstance(address, Path) else address
        options = {"locale": language, "offline": address.startswith("file:"), **options}
        key = repr(sorted(options.items()))
        free = self._free.setdefault(key, [])
        tab = free.pop() if free else Tab(self._browser, options)
        self._tabs.append((key, tab))
        tab.begin(width, height, "dark" if dark else "light")
        tab.watch.begin(address, within, ours)
        tab.page.goto(f"{address}#{words.replace(' ', '&')}" if words else address)
        return tab.page

    def page_of(self, traces: Any, *, half: bool = False, **options: Any) -> Any:
        """The Playwright page that shows an exported file, opened offline.

        Args:
            traces: a `Trace` or several, shown in the mean of all heads; or the page (`eyeline.view`) of some.
            half: as for `Page.save`.
            options: as for opening an address.
        """
        from eyeline.traces import Trace
        from eyeline.views.page import Page

        traces = [traces] if isinstance(traces, Trace) else traces
        # A head is named, so that nothing is pinned: a page of traces alone opens at the telling head.
        page = traces if isinstance(traces, Page) else Page(traces, {"head": "mean"})
        self._opened += 1
        path = self._folder / f"page-{self._opened}.html"
        page.save(path, half=half)
        return self(path, **options)

    def close(self) -> None:
        """Leave all, then fail if any did what it must not."""
        tabs, self._tabs = self._tabs, []
        forgiven, self._forgiven = self._forgiven, []
        for key, tab in tabs:
            if tab.leave():
                self._free[key].append(tab)
            else:
                tab.close()
        for _, tab in tabs:
            if tab not in forgiven:
                tab.watch.check()

    def forget(self) -> None:
        """Hold nothing against the pages that were opened."""
        self._forgiven = [tab for _, tab in self._tabs]


#: The page's views.
VIEWS = ("sentence", "steps", "matrix", "overview", "compare", "toy", "positions", "cost")

_SETTLED = """(quiet) => new Promise((done) => {
  const frame = document.querySelector(".eyeline");
  let timer = setTimeout(done, quiet);
  new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(done, quiet); })
    .observe(frame, { attributes: true, characterData: true, childList: true, subtree: true });
})"""


def settled(shown: Any, quiet: int = 120) -> None:
    """Wait until a page is there and nothing has changed in it for some milliseconds."""
    shown.wait_for_selector(".eyeline [role=tab]")
    shown.evaluate(_SETTLED, quiet)


def each_view(shown: Any) -> Iterator[str]:
    """Go through the views of a page by their tabs; gives the name of each once it is there."""
    settled(shown)
    for at, view in enumerate(VIEWS):
        shown.locator(".eyeline [role=tab]").nth(at).click()
        settled(shown)
        assert shown.locator(".eyeline .trouble").is_hidden(), shown.locator(".eyeline .trouble").inner_text()
        yield view
