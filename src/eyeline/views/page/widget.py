"""The page as a notebook widget: the same modules, and the page's answers as binary buffers."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from eyeline.views.page.joining import joined, style
from eyeline.views.page.message import PageMessages
from eyeline.views.page.requests.request import RequestError


class Widget(anywidget.AnyWidget):
    """A page in a notebook: JupyterLab, Colab, VS Code and other front ends that support anywidget.

    Args:
        page: the page.

    Attributes:
        header: the page's header.
        words: the current state, as in the page's address: "layer=5 head=2". If set, the next view opens in this state.
    """

    header = traitlets.Dict().tag(sync=True)
    words = traitlets.Unicode().tag(sync=True)
    _esm = joined()
    _css = style()

    def __init__(self, page: PageMessages) -> None:
        super().__init__(header=page.header())
        self._page = page
        self.on_msg(self._answer)

    def _answer(self, _: Any, request: Any, buffers: Any) -> None:
        """Answer a request of the page."""
        try:
            self.send(*self._page.answer(request))
        except RequestError as error:
            self.send(error.reply(request))
        except Exception as error:
            # Otherwise the page would wait for ever. The error is raised too, for the notebook's log.
            self.send(RequestError("request", f"{type(error).__name__}: {error}").reply(request))
            raise
