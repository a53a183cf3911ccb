"""The page as a notebook widget: the same modules, and the page's answers as binary buffers.

A notebook saves a widget's state with every view. So that stays small: the module in it is a loader, which asks for the
page's modules, once for all views of a document, and draws a still picture where no kernel answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import anywidget
import traitlets

from eyeline.views.page.compression import deflated
from eyeline.views.page.joining import HERE, bare, joined, style
from eyeline.views.page.message import PageMessages
from eyeline.views.page.requests.request import RequestError
from eyeline.views.page.still import still
from eyeline.words import worded

#: The loader.
LOADER = "hosts/notebook.js"
#: The module that adds what a notebook has beside the views.
ROOMS = "hosts/notebook_rooms.js"


@cache
def assets() -> tuple[str, list[bytes]]:
    """The page's modules and its style, compressed, and the hash of both."""
    parts = [deflated(bare(joined(ROOMS, exported=True)).encode()), deflated(style(host=ROOMS).encode())]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16], parts


class Widget(anywidget.AnyWidget):
    """A page in a notebook: JupyterLab, Colab, VS Code and other front ends that support anywidget.

    Args:
        page: the page.

    Attributes:
        header: the page's header.
        words: the current state, as in the page's address: "layer=5 head=2". If set, the next view opens in this state.
        asset: the hash of the page's modules.
        still: the still picture, drawn where no kernel answers.
    """

    header = traitlets.Dict().tag(sync=True)
    words = traitlets.Unicode().tag(sync=True)
    asset = traitlets.Unicode().tag(sync=True)
    still = traitlets.Dict(allow_none=True).tag(sync=True)
    _esm = bare((HERE / LOADER).read_text("utf-8"))

    def __init__(self, page: PageMessages) -> None:
        picture = still(page)
        data = None if picture is None else {**picture.data(), "note": still_note()}
        super().__init__(header=page.header(), asset=assets()[0], still=data)
        self._page = page
        self.on_msg(self._answer)

    def _answer(self, _: Any, request: Any, buffers: Any) -> None:
        """Answer a request of the page, or of its loader."""
        if isinstance(request, Mapping) and request.get("kind") == "module":
            self.send({"kind": "module"}, assets()[1] if request.get("whole") else [])
            return
        try:
            self.send(*self._page.answer(request))
        except RequestError as error:
            self.send(error.reply(request))
        except Exception as error:
            # Otherwise the page would wait for ever. The error is raised too, for the notebook's log.
            self.send(RequestError("request", f"{type(error).__name__}: {error}").reply(request))
            raise


def still_note() -> str:
    """The note below a still picture in a notebook."""
    return worded("This is a still picture, since no kernel answers. Run the cell, and it can be explored.")
