"""Formulas as MathML, which browsers draw themselves: no script, nothing fetched."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.locale import init
from sphinx.transforms import SphinxTransform


class Translated(SphinxTransform):
    """Translate formulas on lines of their own. Sphinx would have the translation read as reStructuredText's `::`."""

    default_priority = 19  # before Sphinx's own

    def apply(self, **arguments: Any) -> None:
        folders = [self.env.srcdir / folder for folder in self.config.locale_dirs]
        catalog, found = init(folders, self.config.language, self.env.docname)
        for node in self.document.findall(nodes.math_block) if found else ():
            node["translatable"] = False
            node.children = [nodes.Text(catalog.gettext(node.astext()))]


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Translated)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
