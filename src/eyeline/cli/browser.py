"""Serve a page, and open the browser at it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from eyeline.cli.progress import progress
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.serving import Session, SurveySession


def serve_page(made: Callable[[], Session | SurveySession], port: int, no_browser: bool) -> None:
    """Serve the page of a session until Ctrl-C.

    Args:
        made: makes the session, once the port is taken: making it may take long, and a port in use is said at once.
        port: the port of the address; 0 for one that is free.
        no_browser: whether to only print the address.
    """
    from eyeline.serving import listen, serve
    from eyeline.serving.server import address

    with listen(port) as listening:
        session = made()
        print(address(listening), flush=True)
        progress(worded("Ctrl-C ends it"))
        if not no_browser:
            # Some browsers block the call until they are closed.
            threading.Thread(target=_open, args=(address(listening),), daemon=True).start()
        serve(session, listening)


def _open(url: str) -> None:
    """Open a browser, unless it is a text browser that would take over this terminal and wasn't requested."""
    import webbrowser

    try:
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser or "BROWSER" in os.environ:
            browser.open(url)
    except (webbrowser.Error, OSError):
        pass  # the user has the printed address
