"""`eyeline explain`: which words a token looks at, in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eyeline.cli.edits import EditWords, Over, edits_of
from eyeline.cli.options import (
    AsJson,
    Half,
    Head,
    Html,
    KeepHeads,
    Layer,
    Mask,
    ModelName,
    Nth,
    Part,
    Shares,
    Special,
    Text,
    Top,
)
from eyeline.cli.progress import TextShown, heads_shown, layers_shown, progress
from eyeline.cli.results import check_results, draw, print_csv, print_json, save_html, save_png
from eyeline.cli.texts import text_or_stdin
from eyeline.words import worded


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
    shares: Shares = False,
    top: Top = None,
    mask: Mask = None,
    edit: EditWords = None,
    over: Over = None,
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
    kind: Part = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the picture's numbers as CSV, in UTF-8.")] = False,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw the heat map to a PNG file.", show_default=False)
    ] = None,
    html: Html = None,
    half: Half = False,
    keep: KeepHeads = None,
    effects: Annotated[
        bool, typer.Option("--effects", help="Cut each head, and put what changes into the page's Overview.")
    ] = False,
) -> None:
    """Show which words a token looks at, and what it becomes."""
    from eyeline.answers import QuestionError
    from eyeline.views import attach

    check_results(as_json, as_csv, png, html, half)
    if keep and html is None:
        raise QuestionError(worded("--keep must come with --html, whose page then has that head's projections"))
    if effects and html is None:
        raise QuestionError(worded("--effects must come with --html, whose page then shows what matters"))
    if rollout:
        others: dict[str, object] = {"head": head, "steps": steps, "mask": mask, "no-scale": no_scale, "csv": as_csv}
        others |= {"edit": edit or None, "over": over}
        others |= {"png": png, "html": html, "generate": generate, "temperature": temperature, "top-p": top_p}
        for name, value in {**others, "seed": seed}.items():
            if value is not None and value is not False:
                raise QuestionError(
                    worded("--rollout and --{name} can't go together; leave out one of them", name=name)
                )
        with layers_shown() as layer_done:
            rolled = attach.rollout(
                text_or_stdin(text),
                token,
                nth=nth,
                layer=layer,
                pieces=pieces,
                special=special,
                shares=shares,
                top=top,
                model=model,
                progress=progress,
                layer_done=layer_done,
            )
        print_json(rolled) if as_json else draw(rolled)
        return
    asked, changes = text_or_stdin(text), edits_of(edit, over, model)
    with TextShown(asked) as said, layers_shown(generate is None) as layer_done:
        answer = attach.explain(
            asked,
            token,
            nth=nth,
            layer=layer,
            head=head,
            steps=steps,
            pieces=pieces,
            special=special,
            shares=shares,
            mask="causal" if mask else None,
            scale=1.0 if no_scale else None,
            edits=changes,
            generate=generate,
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            top=top,
            keep=() if html is None else ["input", *(keep or ())],
            model=model,
            kind=None if kind is None else kind.value,
            progress=progress,
            layer_done=layer_done,
            said=said,
        )
    if png is not None:
        save_png(answer, png)
    if html is not None:
        from eyeline.views.answer_pages import add_effects, explanation_page

        page = explanation_page(answer, layer=layer)
        if effects:
            with heads_shown() as heads_done:
                add_effects(page, answer, model, heads_done=heads_done)
        save_html(page, html, half, keep or ())
    if as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    else:
        draw(answer)
