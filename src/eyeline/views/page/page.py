"""The page as users have it: it saves itself to a file, and displays itself in a notebook."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eyeline.traces import Trace
from eyeline.views.page.message import PageContent

if TYPE_CHECKING:
    from eyeline.views.page.widget import Widget


class Page(PageContent):
    """One page: its traces, and the state that it opens in.

    Args:
        traces: one or several; none where more are to come.
        state: what the page opens with, as docs/page-format.md says; the rest has its defaults.
    """

    def __init__(self, traces: Sequence[Trace], state: Mapping[str, Any] | None = None) -> None:
        super().__init__(traces, state)
        self._widget: Widget | None = None

    def save(self, path: str | os.PathLike[str], *, half: bool = False, values: bool | None = None) -> None:
        """Write the page into one file, which needs no network and no server. The file is written whole or not at all.

        Args:
            path: of the file.
            half: keep queries, keys and values in float16, for a file half as large.
            values: whether to include values, which show what a token becomes; by default if they are small.

        Raises:
            TraceError: if there are no traces, or numbers are too large for float16; a ValueError.
            OSError: if the file can't be written.
        """
        from eyeline.views.page.file import save

        save(self, path, half=half, values=values)

    def widget(self) -> Widget:
        """The page's notebook widget, made once.

        Raises:
            ModuleNotFoundError: if anywidget isn't installed.
        """
        from eyeline.views.page.widget import Widget

        self._widget = self._widget or Widget(self)
        return self._widget

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from eyeline.views.page.notebook import bundle

        return bundle(self, self.widget)
