"""`eyeline compare`: the same word in two sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eyeline.cli.options import AsJson, Half, Head, Html, Layer, ModelName, Nth, Special, Top
from eyeline.cli.progress import progress
from eyeline.cli.results import check_results, draw, save_html, say_json
from eyeline.cli.texts import text_or_stdin
from eyeline.views.bars import MOST

if TYPE_CHECKING:
    from eyeline.models import Model

TextA = Annotated[str, typer.Argument(help="A sentence, in quotes.", show_default=False)]
TextB = Annotated[str, typer.Argument(help="Another one.", show_default=False)]


def compare(
    text_a: TextA,
    text_b: TextB,
    token: Annotated[str, typer.Option(help="The word, which is in both.", show_default=False)],
    nth: Nth = None,
    nth_a: Annotated[int | None, typer.Option(help="Which one in TEXT_A.", show_default=False)] = None,
    nth_b: Annotated[int | None, typer.Option(help="Which one in TEXT_B.", show_default=False)] = None,
    layer: Layer = None,
    head: Head = None,
    special: Special = False,
    top: Top = MOST,
    model: ModelName = "minilm",
    as_json: AsJson = False,
    html: Html = None,
    half: Half = False,
) -> None:
    """Show what two sentences make of the same word: how alike its vectors are, and whom it looks at in each."""
    from eyeline.answers import compare as ask
    from eyeline.views.terminal import Drawing
    from eyeline.views.terminal import comparison as drawn

    check_results(as_json, False, None, html, half)
    runs: str | Model = model
    if html is not None:  # the model runs once more for it
        from eyeline.models import load

        runs = load(model, progress=progress)
    found = ask(
        text_or_stdin(text_a),
        text_b,
        token,
        nth=nth,
        nth_a=nth_a,
        nth_b=nth_b,
        layer=layer,
        head=head,
        special=special,
        model=runs,
        progress=progress,
    )
    if html is not None and not isinstance(runs, str):
        from eyeline.answers.pages import comparison_page

        save_html(comparison_page(found, runs), html, half)
    if as_json:
        say_json(found)
    else:
        draw(Drawing(lambda ink: drawn(found.document, ink, top)))
