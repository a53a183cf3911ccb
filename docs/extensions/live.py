"""The directive `live`: a page of Eyeline in the guide, as a file in a frame.

```{live} lesson
:state: stop=2
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
from sphinx.util.docutils import SphinxDirective

from docs.live_pages import LIVE_PAGES


class LiveNode(nodes.General, nodes.Element):
    """A live page: its name, the state in its address, its height in pixels; its caption inside."""


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


def _visit(writer: Any, node: LiveNode) -> None:
    builder = writer.builder
    up = "../" * (builder.current_docname.count("/") + 1)
    page = LIVE_PAGES[node["name"]]
    state = "&".join(filter(None, (node["state"], f"language={builder.config.language}")))
    address = escape(f"{up}live/{node['name']}.html#{state}", quote=True)
    title = escape(page.title(builder.config.language), quote=True)
    frame = f'<iframe class="live" src="{address}" title="{title}" loading="lazy" style="height: {node["height"]}px">'
    frame += "</iframe>"
    opened = page.open_words(builder.config.language)
    if page.megabytes:  # not before the reader asks for it
        asked = escape(page.ask_words(builder.config.language))
        frame = f'<details class="live"><summary>{asked}</summary>{frame}</details>'
    writer.body.append(f'<figure class="live">{frame}<figcaption>')
    node["opened"] = f' <a class="live" href="{address}">{escape(opened)}</a>'


def _depart(writer: Any, node: LiveNode) -> None:
    writer.body.append(f"{node['opened']}</figcaption></figure>")


def _skip(writer: Any, node: LiveNode) -> None:
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(LiveNode, html=(_visit, _depart), gettext=(lambda *_: None, lambda *_: None), text=(_skip, None))
    app.add_directive("live", Live)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
