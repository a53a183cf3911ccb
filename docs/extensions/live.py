"""The directive `live`: a page of Eyeline in the guide, as a file in a frame.

```{live} lesson
:state: view=toy&stop=none
:height: 640
The caption, in the guide's language.
```
"""

from __future__ import annotations

from html import escape
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective

from docs.live_pages import LIVE_PAGES
from docs.site_words import LOAD, OPEN


class LiveNode(nodes.General, nodes.Element):
    """A live page, with its caption inside.

    Attributes:
        name: of docs/live_pages.py.
        state: what the frame's address says, without the language.
        height: of the frame, in pixels.
        opens: the state of the page that the caption's link opens; as `state` if it isn't there.
        link: that link's text, in English.
    """


class Live(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"state": directives.unchanged, "height": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in LIVE_PAGES:
            raise self.error(f"live must name one of {', '.join(LIVE_PAGES)} (docs/live_pages.py), got {name!r}")
        node = LiveNode(name=name, state=self.options.get("state", ""), height=self.options.get("height", 620))
        self.set_source_info(node)
        node += self.parse_content_to_nodes()
        return [node]


def _address(writer: Any, name: str, state: str) -> str:
    """The page's address from the document that is written, in the guide's language."""
    up = "../" * (writer.builder.current_docname.count("/") + 1)
    words = "&".join(filter(None, (state, f"language={writer.builder.config.language}")))
    return escape(f"{up}live/{name}.html#{words}", quote=True)


def _visit(writer: Any, node: LiveNode) -> None:
    page = LIVE_PAGES[node["name"]]
    title, address = _(page.title), _address(writer, node["name"], node["state"])
    source = "data-src" if page.megabytes else "src"  # guide.js loads what is large when the reader asks for it
    frame = (
        f'<iframe class="live" {source}="{address}" title="{escape(title, quote=True)}" loading="lazy"'
        f' style="height: {node["height"]}px"></iframe>'
    )
    if page.megabytes:
        asked = escape(_(LOAD).format(title=title, megabytes=page.megabytes))
        frame = f'<details class="live"><summary>{asked}</summary>{frame}</details>'
    writer.body.append(f'<figure class="live">{frame}<figcaption>')


def _depart(writer: Any, node: LiveNode) -> None:
    address = _address(writer, node["name"], node.get("opens", node["state"]))
    writer.body.append(f' <a href="{address}">{escape(_(node.get("link", OPEN)))}</a></figcaption></figure>')


def _skip(writer: Any, node: LiveNode) -> None:
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(LiveNode, html=(_visit, _depart), gettext=(lambda *_: None, lambda *_: None), text=(_skip, None))
    app.add_directive("live", Live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
