"""The page: attention in a browser, as one front end for a single file, a notebook and the local server.

The JavaScript and the style stand here as they are shipped: the frame (main.js, page.js, state.js; words.js has all
texts), `numbers/`, where weights come from and are computed, `drawing/`, a folder for each view, `keeping/`, what is
taken away, and `hosts/`, the file and the server. `joining` makes one module of them, `message` says what the page
gets of its traces, and `file` writes it into one file. This room imports `eyeline.traces` and NumPy.
"""

from __future__ import annotations

from eyeline.views.page.message import Page, RequestError
from eyeline.views.page.viewing import view

__all__ = ["Page", "RequestError", "view"]
