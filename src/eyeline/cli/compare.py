"""`eyeline compare`: the same word in two sentences."""

from __future__ import annotations

from typing import Annotated

import typer

from eyeline.cli.explain import AsJson, Half, Head, Html, Layer, ModelName, Special, written
from eyeline.cli.results import check_results, draw, progress, save_html, say_json

TextA = Annotated[str, typer.Argument(help="A sentence, in quotes.", show_default=False)]
TextB = Annotated[str, typer.Argument(help="Another one.", show_default=False)]
Nth = Annotated[int | None, typer.Option(help="Which one, where the word is there twice.", show_default=False)]


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
    model: ModelName = "minilm",
    as_json: AsJson = False,
    html: Html = None,
    half: Half = False,
) -> None:
    """Show what two sentences make of the same word: how alike its vectors are, and whom it looks at in each."""
    from eyeline.answers import compare as ask

    check_results(as_json, False, None, html, half)
    found = ask(
        written(text_a),
        text_b,
        token,
        nth=nth,
        nth_a=nth_a,
        nth_b=nth_b,
        layer=layer,
        head=head,
        special=special,
        model=model,
        progress=progress,
    )
    if html is not None:
        from eyeline.views.answer_pages import comparison_page

        save_html(comparison_page(found), html, half)
    if as_json:
        say_json(found)
    else:
        draw(found)
