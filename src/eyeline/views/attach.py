"""Answers shown: which view draws each kind of answer in a terminal, in a notebook, as CSV and as a picture.

Answers stand below views and import none. Importing this module fills in their `renderers`, and the attributes of
`eyeline` import it with the function: `eyeline.explain(...)` prints itself. Whoever imports `explain` from
`eyeline.answers` imports this module too.
"""

from __future__ import annotations

from typing import Any, cast

from eyeline.answers import Comparison, Explanation, Heads, Renderers, Rollout

# Views draw an answer's plain data; each loads when something is first drawn.


def _explanation() -> Renderers:
    def rich(found: Explanation) -> Any:
        from eyeline.views.terminal import Drawing, explanation

        return Drawing(lambda ink: explanation(_data(found), ink))

    def html(found: Explanation) -> str:
        from eyeline.views.html import explanation_html

        return explanation_html(_data(found))

    def line(found: Explanation) -> str:
        from eyeline.views import findings

        data = _data(found)
        return f"<Explanation of {found.text[:60]!r}: {findings.heading(data)} · {findings.found(data)}>"

    def csv(found: Explanation) -> str:
        from eyeline.views.tables import csv_text

        return csv_text(_data(found))

    def png(found: Explanation, path: Any) -> list[str]:
        from eyeline.views.figure import save_heat_map

        return save_heat_map(_data(found), path)

    return Renderers(rich, html, line, csv, png)


def _comparison() -> Renderers:
    def rich(found: Comparison) -> Any:
        from eyeline.views.terminal import Drawing, comparison

        return Drawing(lambda ink: comparison(_data(found), ink))

    def html(found: Comparison) -> str:
        from eyeline.views.html import comparison_html

        return comparison_html(_data(found))

    def line(found: Comparison) -> str:
        from eyeline.views.findings import compared

        return f"<Comparison of {found.question.token!r} in two texts: {' '.join(compared(_data(found)))}>"

    return Renderers(rich, html, line)


def _rollout() -> Renderers:
    def rich(found: Rollout) -> Any:
        from eyeline.views.rollout import rollout as drawn
        from eyeline.views.terminal import Drawing

        return Drawing(lambda ink: drawn(_data(found), ink))

    def html(found: Rollout) -> str:
        from eyeline.views.rollout_html import rollout_html

        return rollout_html(_data(found))

    def line(found: Rollout) -> str:
        from eyeline.views import rollout as view

        data = _data(found)
        return f"<Rollout of {found.text[:60]!r}: {view.heading(data)} · {view.found(data)}>"

    return Renderers(rich, html, line)


def _heads() -> Renderers:
    def rich(found: Heads) -> Any:
        from eyeline.views.heads import heads as drawn
        from eyeline.views.terminal import Drawing

        return Drawing(lambda ink: drawn(_data(found), ink))

    def html(found: Heads) -> str:
        from eyeline.views.heads_html import heads_html

        return heads_html(_data(found))

    def line(found: Heads) -> str:
        from eyeline.views import heads as view

        data = _data(found)
        return f"<Heads over {found.text[:60]!r}: {view.heading(data)} · {view.found(data)}>"

    def csv(found: Heads) -> str:
        from eyeline.views.tables import heads_csv

        return heads_csv(_data(found))

    def png(found: Heads, path: Any) -> list[str]:
        from eyeline.views.heads_figure import save_heads

        return save_heads(_data(found), path)

    return Renderers(rich, html, line, csv, png)


def _data(found: Any) -> Any:
    return cast(Any, found.document())


Explanation.renderers = _explanation()
Comparison.renderers = _comparison()
Rollout.renderers = _rollout()
Heads.renderers = _heads()
