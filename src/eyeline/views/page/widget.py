"""The page as a notebook's widget: the same modules, and the page's answers as binary buffers."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from eyeline.views.page.joining import joined, style
from eyeline.views.page.message import PageMessages, RequestError


class Widget(anywidget.AnyWidget):
    """A page in a notebook: JupyterLab, Colab, VS Code and whatever else shows anywidgets.

    Args:
        page: what is shown.

    Attributes:
        header: what the page is told first.
        words: the state it is in, as its address would have it: "layer=5 head=2". Set, it opens so in its next view.
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
        """Send the answer to a request of the page."""
        try:
            self.send(*self._page.answer(request))
        except RequestError as error:
            self.send(error.reply(request))
        except Exception as error:
            # The page would wait for ever; and the notebook's log has to have it too.
            self.send(RequestError("request", f"{type(error).__name__}: {error}").reply(request))
            raise
