"""The directive `lesson-stops`: the stops of the page's lesson as sections, each with its view, living.

The texts are the page's own, from the catalogue of words in the guide's language, so they are written once.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from docs.extensions.live import LiveNode
from docs.site_words import ANSWER
from eyeline.words import languages, page_table

#: What each stop opens (views/page/lesson/stops.js), without the lesson's panel, whose texts stand around the frame;
#: and the frame's height in pixels.
VIEWS = {
    "what": ("", 640),
    "sum": ("special=shown", 640),
    "qkv": ("view=steps&step=1", 640),
    "score": ("view=steps&step=2", 640),
    "example": ("view=toy", 780),
    "cross": ("trace=4&layer=1&head=mean&token=6", 660),
    "context": ("view=compare&head=mean&other=1,5,mean&partner=2", 820),
    "masks": ("view=matrix&special=shown&ahead=no", 760),
    "heads": ("view=overview", 780),
    "cost": ("view=cost", 720),
    "both": ("view=matrix&trace=3&layer=1&head=mean&token=none", 760),
    "limits": ("view=steps&step=5", 640),
}
#: The word that the lesson's sentence is about, where a text has {word}; and that of the stop about two sides.
_WORD = {"cross": "03"}


class LessonStops(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        table, place = page_table(), languages().index(self.config.language)
        made = []
        for number, (name, (state, height)) in enumerate(VIEWS.items()):

            def text(part: str, name: str = name) -> list[nodes.Node]:
                pieces = re.split(r"(\{word\})", table[part if "." in part else f"lesson.{name}.{part}"][place])
                word = _WORD.get(name, "flies")
                return [nodes.emphasis("", word) if piece == "{word}" else nodes.Text(piece) for piece in pieces]

            section = nodes.section(ids=[f"stop-{name}"], names=[f"stop-{name}"])
            section += nodes.title("", f"{number + 1}. ", *text("title"))
            for part in ("first", "second", "third"):
                section += nodes.paragraph("", "", *text(part))
            tried = nodes.strong("", "", *text("lesson.try"))
            section += nodes.paragraph("", "", tried, nodes.Text(" "), *text("try"))
            shown = LiveNode(name="lesson", state="&".join(filter(None, ("stop=none", state))), height=height)
            shown["opens"], shown["link"] = f"stop={number}", ANSWER
            shown += nodes.paragraph("", "", *text("question"))
            section += shown
            made.append(section)
        return made


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("lesson-stops", LessonStops)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
