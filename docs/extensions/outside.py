"""Links of pages to files of the checkout outside docs, which a site doesn't have: their text stays, the link goes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)\s]*)\)")


def _plain(app: Sphinx, docname: str, source: list[str]) -> None:
    here, docs = Path(app.env.doc2path(docname)).parent, Path(app.srcdir).resolve()

    def text(found: re.Match[str]) -> str:
        inside = (here / found[2].partition("#")[0]).resolve().is_relative_to(docs)
        return found[0] if inside else found[1]

    source[0] = _LINK.sub(text, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
