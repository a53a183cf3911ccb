"""`Page`: a page for a file, a notebook or the server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyeline.views.page.message import PageMessages

if TYPE_CHECKING:
    from eyeline.views.page.widget import Widget


class Page(PageMessages):
    """One page. It displays itself in a notebook, and `save` writes it to a file.

    Args:
        traces: one or more traces; empty if they are added later.
        state: its initial state, as docs/page-format.md describes it; the rest takes its defaults.

    Attributes:
        traces: its traces.
        state: its initial state.
    """

    _widget: Widget | None = None

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        half: bool = False,
        values: bool | None = None,
        keep: Sequence[str] = (),
    ) -> None:
        """Write the page to one file, which needs no network and no server. The file is written completely or not at
        all.

        Args:
            path: the file's path.
            half: keep queries, keys and values in float16, for a file half as large.
            values: whether to include values, which the new vectors are computed from; by default if they are small.
            keep: heads, such as "L0H3", whose projections to include, in float16 (130 KB for each of minilm's), beside
                those of the head that the page opens on.

        Raises:
            TraceError: if there are no traces, numbers are too large for float16, or `keep` names heads whose
                projections weren't recorded; a ValueError.
            OSError: if the file can't be written.
        """
        from eyeline.views.page.file import save

        save(self, path, half=half, values=values, keep=keep)

    def widget(self) -> Widget:
        """The page's notebook widget, made once.

        Raises:
            ModuleNotFoundError: if anywidget isn't installed.
        """
        from eyeline.views.page.widget import Widget

        if self._widget is None:
            self._widget = Widget(self)
        return self._widget

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from eyeline.views.page.notebook import bundle

        return bundle(self, self.widget)
