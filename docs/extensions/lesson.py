"""The directive `lesson-stops`: the stops of the page's lesson as sections, each with its view beside the text.

The texts are the page's own, from the catalogue of words in the guide's language, so they are written once.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import eyeline
from docs.extensions.live import LiveNode
from eyeline.words import languages, page_table

STOPS = Path(eyeline.__file__).parent / "views" / "page" / "lesson" / "stops.js"
_NAME = re.compile(r'\bname: "(\w+)"')
#: The word that the lesson's sentence is about, where a text has {word}.
_WORD = "flies"


def stops() -> list[str]:
    """The names of the stops, in their order."""
    return _NAME.findall(STOPS.read_text("utf-8"))


class LessonStops(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        table, place = page_table(), languages().index(self.config.language)

        def text(key: str) -> list[nodes.Node]:
            found: list[nodes.Node] = []
            for piece in re.split(r"(\{word\})", table[key][place]):
                found += [nodes.emphasis("", _WORD) if piece == "{word}" else nodes.Text(piece)] if piece else []
            return found

        made = []
        for number, name in enumerate(stops()):
            section = nodes.section(ids=[f"stop-{name}"], names=[f"stop-{name}"])
            section += nodes.title("", "", *text(f"lesson.{name}.title"))
            for part in ("first", "second", "third"):
                if f"lesson.{name}.{part}" in table:
                    section += nodes.paragraph("", "", *text(f"lesson.{name}.{part}"))
            section += LiveNode(name="lesson", state=f"stop={number}", height=640)
            tried = nodes.strong("", "", *text("lesson.try"))
            section += nodes.paragraph("", "", tried, nodes.Text(" "), *text(f"lesson.{name}.try"))
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("lesson-stops", LessonStops)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
