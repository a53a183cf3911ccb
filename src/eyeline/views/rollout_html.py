"""Attention rollout in a notebook: HTML without scripts, its words escaped."""

from __future__ import annotations

import html

from eyeline.views.document import Rollout
from eyeline.views.html import bars, box, matrix, small, strong, words
from eyeline.views.labels import excerpt
from eyeline.views.rollout import basis, found, heading
from eyeline.views.scale import shade_ceiling


def rollout_html(document: Rollout) -> str:
    """A rollout as an HTML fragment."""
    question, units = document["question"], document["units"]
    before, inside, after = excerpt(document["text"], None, 200)
    parts = [
        f'<div style="font-size:16px">{words(before + inside + after)}</div>',
        small(html.escape(heading(document))),
    ]
    if question["token"] is not None:
        name = words(question["token"])
        parts += [strong(f"{name} is made of"), bars([("", document["made_of"] or [])], units, question["units"])]
        parts.append(small(basis(document, name)))
    else:
        assert document["matrix"] is not None
        shown = [units[index] for index in document["shown"]]
        heavy = [place for place, unit in enumerate(shown) if unit["start"] is None]
        ceiling, _ = shade_ceiling([document["matrix"]["shares"]], heavy)
        parts += [strong("Who is made of whom"), matrix(document["matrix"]["shares"], shown, ceiling)]
        parts.append(small(html.escape(basis(document, ""))))
    return box([*parts, strong(found(document, words))])
