"""`eyeline explain`: which words a token looks at, in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from eyeline.cli.options import AsJson, Half, Head, Html, Layer, Mask, ModelName, Nth, Special, Text, Top
from eyeline.cli.progress import TextShown, progress
from eyeline.cli.results import check_results, draw, save_html, save_png, say_csv, say_json
from eyeline.cli.texts import text_or_stdin
from eyeline.views.bars import MOST

if TYPE_CHECKING:
    from eyeline.models import Model


class Changed(TypedDict):
    """What of a run is to be changed."""

    mask: Literal["causal"] | None
    scale: float | None


def explain(
    text: Text,
    token: Annotated[
        str | None, typer.Option(help="The word that looks. Without it: every word at every word.", show_default=False)
    ] = None,
    nth: Nth = None,
    layer: Layer = None,
    head: Head = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="q·k, ÷ √d, softmax, weight × value. Default head: the hardest looking.")
    ] = False,
    pieces: Annotated[bool, typer.Option("--pieces", help="Show the tokenizer's pieces, not whole words.")] = False,
    special: Special = False,
    top: Top = MOST,
    mask: Mask = None,
    no_scale: Annotated[bool, typer.Option("--no-scale", help="Also run without dividing by √d.")] = False,
    rollout: Annotated[
        bool, typer.Option("--rollout", help="Through all layers: what the token's vector is made of.")
    ] = False,
    generate: Annotated[
        int | None, typer.Option(metavar="N", help="Go on with N tokens (a decoder).", show_default=False)
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Draw new tokens at random; 1 as trained.", show_default=False)
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Draw from the likeliest that have so much together.", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same.", show_default=False)] = None,
    model: ModelName = "minilm",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the picture's numbers as CSV, in UTF-8.")] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw the heat map to a PNG file.", show_default=False)
    ] = None,
    html: Html = None,
    half: Half = False,
) -> None:
    """Show which words a token looks at, and what it becomes."""
    from eyeline.answers import QuestionError
    from eyeline.answers import explain as ask
    from eyeline.answers import rollout as roll
    from eyeline.views.rollout import rollout as drawn_rollout
    from eyeline.views.terminal import Drawing
    from eyeline.views.terminal import explanation as drawn

    check_results(as_json, as_csv, png, html, half)
    if rollout:
        others: dict[str, object] = {
            "head": head,
            "steps": steps,
            "mask": mask,
            "no-scale": no_scale,
            "csv": as_csv,
            "png": png,
        }
        others |= {"html": html, "generate": generate, "temperature": temperature, "top-p": top_p, "seed": seed}
        for name in (name for name, value in others.items() if value is not None and value is not False):
            raise QuestionError(f"--rollout and --{name} can't go together; leave out one of them")
        rolled = roll(
            text_or_stdin(text),
            token,
            nth=nth,
            layer=layer,
            pieces=pieces,
            special=special,
            model=model,
            progress=progress,
        )
        say_json(rolled) if as_json else draw(Drawing(lambda ink: drawn_rollout(rolled.document, ink, top)))
        return
    asked = text_or_stdin(text)
    changed: Changed = {"mask": "causal" if mask else None, "scale": 1.0 if no_scale else None}
    runs: str | Model = model
    if html is not None:  # the model runs once more for it
        from eyeline.models import load

        runs = load(model, progress=progress)
    with TextShown(asked) as saying:
        found = ask(
            asked,
            token,
            nth=nth,
            layer=layer,
            head=head,
            steps=steps,
            pieces=pieces,
            special=special,
            **changed,
            generate=generate,
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            model=runs,
            progress=progress,
            said=saying,
        )
    if png is not None:
        save_png(found, png)
    if html is not None and not isinstance(runs, str):
        from eyeline.answers.pages import explanation_page

        save_html(explanation_page(found, runs, **changed), html, half)
    if as_json:
        say_json(found)
    elif as_csv:
        say_csv(found)
    else:
        draw(Drawing(lambda ink: drawn(found.document, ink, top)))
