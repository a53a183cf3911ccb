"""`eyeline compare`: the same word in two sentences."""

from __future__ import annotations

from typing import Annotated

import typer

from eyeline.cli.options import AsJson, Half, Head, Html, Layer, ModelName, Nth, Shares, Special, Top
from eyeline.cli.progress import layers_shown, progress
from eyeline.cli.results import check_results, draw, print_json, save_html
from eyeline.cli.texts import text_or_stdin

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
    shares: Shares = False,
    top: Top = None,
    model: ModelName = "minilm",
    as_json: AsJson = False,
    html: Html = None,
    half: Half = False,
) -> None:
    """Show what two sentences make of the same word: how alike its vectors are, and whom it looks at in each."""
    from eyeline.views import attach

    check_results(as_json, html=html, half=half)
    with layers_shown() as layer_done:
        answer = attach.compare(
            text_or_stdin(text_a),
            text_b,
            token,
            nth=nth,
            nth_a=nth_a,
            nth_b=nth_b,
            layer=layer,
            head=head,
            special=special,
            shares=shares,
            top=top,
            model=model,
            progress=progress,
            layer_done=layer_done,
        )
    if html is not None:
        from eyeline.views.answer_pages import comparison_page

        save_html(comparison_page(answer), html, half)
    print_json(answer) if as_json else draw(answer)
