"""The site's own words and languages: links to the same page in the others, the theme's words, those of its search."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils.utils.smartquotes import smartchars
from sphinx.application import Sphinx
from sphinx.locale import _

from docs.site_words import BUTTONS, FOUND, SEARCH
from eyeline.words import own_names

#: Quotation marks of languages that docutils doesn't know: without them it sets no dashes either.
smartchars.quotes.setdefault("vi", "“”‘’")


def _languages(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """What the templates need: each language's code, name and address of this page; the theme's buttons by name."""
    up = "../" * (page.count("/") + 1)
    context["languages"] = [(code, name, f"{up}{code}/{page}.html") for code, name in own_names().items()]
    context["buttons"] = json.dumps({parts: _(name) for parts, name in BUTTONS.items()}, ensure_ascii=False)


def _of_search(app: Sphinx, error: Exception | None) -> None:
    """The search's words, which Sphinx has no translations of: its own file of them is replaced."""
    file = Path(app.outdir) / "_static" / "translations.js"
    if error is None and file.exists():
        messages: dict[str, str | list[str]] = {one: _(one) for one in SEARCH}
        messages[FOUND[0]] = [_(one) for one in FOUND]
        table = {"locale": app.config.language, "messages": messages, "plural_expr": "n === 1 ? 0 : 1"}
        file.write_text(f"Documentation.addTranslations({json.dumps(table, ensure_ascii=False)});\n", "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", _languages)
    app.connect("build-finished", _of_search)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
