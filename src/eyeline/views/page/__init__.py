"""The page: attention in a browser, one front end for a single file, a notebook and the local server.

The JavaScript and the style are the sources that ship: the frame (main.js, page.js, state.js; words.js has all texts),
`weights/`, which requests heads from a host and computes their weights, `drawing/`, a folder for each view, `export/`
(pictures, numbers, links), and `hosts/`, the file and the server. `types/` declares the types that the modules share,
for tests/check_page.sh. `joining` bundles the modules and inserts the texts of `eyeline.words`, `message` builds a
page's header and its answers to requests, `file` writes the page to one file, `widget` shows it in a notebook, and
`page` is the public class. This room imports `eyeline.traces`, `eyeline.words` and NumPy.
"""

from __future__ import annotations

from eyeline.views.page.lesson_page import lesson
from eyeline.views.page.page import Page
from eyeline.views.page.requests.request import RequestError

__all__ = ["Page", "RequestError", "lesson"]
