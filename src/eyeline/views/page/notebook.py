"""Display a page as the result of a notebook cell, or in a terminal."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eyeline.views.page.still import still, still_html

if TYPE_CHECKING:
    from eyeline.views.page.message import PageMessages

#: The largest file in bytes that a cell shows without the widget: a notebook stores it.
MOST = 2_000_000
_HOW = "pip install 'eyeline[notebook]'"


def in_notebook() -> bool:
    """Whether this process is a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def bundle(page: PageMessages, widget: Callable[[], Any]) -> dict[str, Any]:
    """The page's representations by MIME type: its `widget` if anywidget is installed, else its file in a frame.

    Beside the widget stands a still picture, for where it can't be shown: exported, or opened without trust.
    """
    plain = {"text/plain": repr(page)}
    if not in_notebook():
        return plain
    try:
        found = widget()._repr_mimebundle_()
    except ModuleNotFoundError:
        return {**plain, "text/html": framed(page)}
    picture = still(page)
    return {**(found[0] if found else {}), **plain, **({} if picture is None else {"text/html": still_html(picture)})}


def framed(page: PageMessages) -> str:
    """The page's file in a sandboxed frame, with a note on how to get the widget."""
    from eyeline.views.page.file import page_file

    said = f"<p>With <code>{html.escape(_HOW)}</code> and a new kernel, pages of any size show here, as widgets.</p>"
    text = page_file(page).decode()
    if len(text) > MOST:
        return f"<p>Too large for a cell: <code>page.save('page.html')</code> writes this page to a file.</p>{said}"
    style = "width: 100%; height: 720px; border: 0"
    frame = f'<iframe sandbox="allow-scripts allow-downloads" title="Eyeline" style="{style}"'
    return f'{frame} srcdoc="{html.escape(text)}"></iframe>{said}'
