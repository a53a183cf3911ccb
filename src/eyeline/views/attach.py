"""Attach views to answers: the renderers of each kind of answer in a terminal, in a notebook, as CSV and PNG.

Answers are below views and import none. This module sets their `renderers`. `eyeline.explain`, `compare`, `rollout`,
`heads`, `effects` and `toy` are loaded through it, so their answers print themselves. Each view is loaded at its first
use.
"""

from __future__ import annotations

import os

from eyeline.answers import (
    Comparison,
    Effects,
    EncoderDecoderExplanation,
    Explanation,
    Heads,
    Renderers,
    Rollout,
    Toy,
    Why,
    compare,
    effects,
    explain,
    heads,
    rollout,
    toy,
    why,
)
from eyeline.views.drawing import Drawing

__all__ = ["compare", "effects", "explain", "heads", "rollout", "toy", "why"]

_EXCERPT = 60  # characters of the text in an answer's repr


def _explanation() -> Renderers:
    def rich(answer: Explanation) -> Drawing:
        from eyeline.views.explanation_terminal import explanation

        return Drawing(lambda ink: explanation(answer, ink))

    def html(answer: Explanation) -> str:
        from eyeline.views.explanation_html import explanation_html

        return explanation_html(answer)

    def line(answer: Explanation) -> str:
        from eyeline.views.findings import found
        from eyeline.views.provenance import provenance

        return f"<Explanation of {answer.text[:_EXCERPT]!r}: {provenance(answer)} · {found(answer)}>"

    def csv(answer: Explanation) -> str:
        from eyeline.views.csv_tables import explanation_csv

        return explanation_csv(answer)

    def png(answer: Explanation, path: str | os.PathLike[str]) -> list[str]:
        from eyeline.views.explanation_figure import save_heat_map

        return save_heat_map(answer, path)

    return Renderers(rich, html, line, csv, png)


def _encoder_decoder() -> Renderers:
    def rich(answer: EncoderDecoderExplanation) -> Drawing:
        from eyeline.views.encoder_decoder_terminal import encoder_decoder

        return Drawing(lambda ink: encoder_decoder(answer, ink))

    def html(answer: EncoderDecoderExplanation) -> str:
        from eyeline.views.encoder_decoder_tables import encoder_decoder_html

        return encoder_decoder_html(answer)

    def line(answer: EncoderDecoderExplanation) -> str:
        from eyeline.views.encoder_decoder_terminal import found
        from eyeline.views.provenance import provenance

        return (
            f"<Explanation of {answer.text[:_EXCERPT]!r} → {answer.written!r}: {provenance(answer)} · {found(answer)}>"
        )

    def csv(answer: EncoderDecoderExplanation) -> str:
        from eyeline.views.encoder_decoder_tables import encoder_decoder_csv

        return encoder_decoder_csv(answer)

    def png(answer: EncoderDecoderExplanation, path: str | os.PathLike[str]) -> list[str]:
        from eyeline.views.encoder_decoder_tables import save_encoder_decoder

        return save_encoder_decoder(answer, path)

    return Renderers(rich, html, line, csv, png)


def _comparison() -> Renderers:
    def rich(answer: Comparison) -> Drawing:
        from eyeline.views.comparison_terminal import comparison

        return Drawing(lambda ink: comparison(answer, ink))

    def html(answer: Comparison) -> str:
        from eyeline.views.comparison_html import comparison_html

        return comparison_html(answer)

    def line(answer: Comparison) -> str:
        from eyeline.views.findings import compared

        return f"<Comparison of {answer.question.token!r} in two texts: {' '.join(compared(answer))}>"

    return Renderers(rich, html, line)


def _rollout() -> Renderers:
    def rich(answer: Rollout) -> Drawing:
        from eyeline.views.rollout_terminal import rollout as lines

        return Drawing(lambda ink: lines(answer, ink))

    def html(answer: Rollout) -> str:
        from eyeline.views.rollout_html import rollout_html

        return rollout_html(answer)

    def line(answer: Rollout) -> str:
        from eyeline.views.provenance import provenance
        from eyeline.views.rollout_findings import found

        return f"<Rollout of {answer.text[:_EXCERPT]!r}: {provenance(answer)} · {found(answer)}>"

    return Renderers(rich, html, line)


def _heads() -> Renderers:
    def rich(answer: Heads) -> Drawing:
        from eyeline.views.heads_terminal import heads as lines

        return Drawing(lambda ink: lines(answer, ink))

    def html(answer: Heads) -> str:
        from eyeline.views.heads_html import heads_html

        return heads_html(answer)

    def line(answer: Heads) -> str:
        from eyeline.views.heads_findings import found
        from eyeline.views.provenance import provenance

        return f"<Heads over {answer.text[:_EXCERPT]!r}: {provenance(answer)} · {found(answer)}>"

    def csv(answer: Heads) -> str:
        from eyeline.views.csv_tables import heads_csv

        return heads_csv(answer)

    def png(answer: Heads, path: str | os.PathLike[str]) -> list[str]:
        from eyeline.views.heads_figure import save_heads

        return save_heads(answer, path)

    return Renderers(rich, html, line, csv, png)


def _effects() -> Renderers:
    def rich(answer: Effects) -> Drawing:
        from eyeline.views.effects_terminal import effects as lines

        return Drawing(lambda ink: lines(answer, ink))

    def html(answer: Effects) -> str:
        from eyeline.views.effects_html import effects_html

        return effects_html(answer)

    def line(answer: Effects) -> str:
        from eyeline.views.effects_findings import found, stopped
        from eyeline.views.provenance import provenance

        said = " ".join(filter(None, (found(answer), stopped(answer))))
        return f"<Effects over {answer.text[:_EXCERPT]!r}: {provenance(answer)} · {said}>"

    def csv(answer: Effects) -> str:
        from eyeline.views.csv_tables import effects_csv

        return effects_csv(answer)

    def png(answer: Effects, path: str | os.PathLike[str]) -> list[str]:
        from eyeline.views.effects_figure import save_effects

        return save_effects(answer, path)

    return Renderers(rich, html, line, csv, png)


def _why() -> Renderers:
    def rich(answer: Why) -> Drawing:
        from eyeline.views.why_terminal import why as lines

        return Drawing(lambda ink: lines(answer, ink))

    def html(answer: Why) -> str:
        from eyeline.views.why_html import why_html

        return why_html(answer)

    def line(answer: Why) -> str:
        from eyeline.views.provenance import provenance
        from eyeline.views.why_findings import found

        return f"<Why of {answer.text[:_EXCERPT]!r}: {provenance(answer)} · {found(answer)}>"

    def csv(answer: Why) -> str:
        from eyeline.views.csv_tables import why_csv

        return why_csv(answer)

    def png(answer: Why, path: str | os.PathLike[str]) -> list[str]:
        from eyeline.views.why_figure import save_why

        return save_why(answer, path)

    return Renderers(rich, html, line, csv, png)


def _toy() -> Renderers:
    def rich(answer: Toy) -> Drawing:
        from eyeline.views.toy_terminal import toy as lines

        return Drawing(lambda ink: lines(answer, ink))

    def html(answer: Toy) -> str:
        from eyeline.views.toy_html import toy_html

        return toy_html(answer)

    def line(answer: Toy) -> str:
        from eyeline.views.toy_tables import found

        return f"<Toy of {' '.join(answer.words)[:_EXCERPT]!r}: {found(answer)}>"

    def csv(answer: Toy) -> str:
        from eyeline.views.toy_tables import toy_csv

        return toy_csv(answer)

    return Renderers(rich, html, line, csv)


Explanation.renderers = _explanation()
EncoderDecoderExplanation.renderers = _encoder_decoder()
Comparison.renderers = _comparison()
Rollout.renderers = _rollout()
Heads.renderers = _heads()
Effects.renderers = _effects()
Toy.renderers = _toy()
Why.renderers = _why()
