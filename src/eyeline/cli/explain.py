"""`eyeline explain`: which words a token looks at, in one sentence."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Literal, TypedDict

import typer

from eyeline.cli.results import check_results, draw, progress, save_html, save_png, say_csv, say_json

Text = Annotated[str, typer.Argument(help="The sentence, in quotes; - reads it from stdin.", show_default=False)]
Layer = Annotated[
    int | None, typer.Option(help="Layer, counted from 1 (0 is the embedding). Default: the last.", show_default=False)
]
Head = Annotated[int | None, typer.Option(help="Head, counted from 1. Default: the mean of all.", show_default=False)]
Special = Annotated[bool, typer.Option("--special", help="Show what is set aside: [CLS], [SEP], a decoder's first.")]
ModelName = Annotated[str, typer.Option(help="A name that `eyeline models` lists, or a folder.")]
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write the page, to be opened in a browser.", show_default=False),
]
Half = Annotated[bool, typer.Option("--half", help="The page's numbers in float16: a file half as large.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print all the numbers as JSON (see docs/json.md).")]


class Changed(TypedDict):
    """What of a run is to be changed."""

    mask: Literal["causal"] | None
    scale: float | None


class MaskName(StrEnum):
    """Masks by name."""

    causal = "causal"


def explain(
    text: Text,
    token: Annotated[
        str | None, typer.Option(help="The word that looks. Without it: every word at every word.", show_default=False)
    ] = None,
    nth: Annotated[
        int | None, typer.Option(help="Which one, where the word is there twice.", show_default=False)
    ] = None,
    layer: Layer = None,
    head: Head = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="q·k, ÷ √d, softmax, weight × value. Default head: the hardest looking.")
    ] = False,
    pieces: Annotated[bool, typer.Option("--pieces", help="Show the tokenizer's pieces, not whole words.")] = False,
    special: Special = False,
    mask: Annotated[
        MaskName | None, typer.Option(help="Also run with this mask: causal may not look ahead.", show_default=False)
    ] = None,
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

    check_results(as_json, as_csv, png, html, half)
    if rollout:
        from eyeline.answers import rollout as roll

        others: dict[str, object] = {
            "head": head,
            "steps": steps,
            "mask": mask,
            "no-scale": no_scale,
            "csv": as_csv,
            "png": png,
            "html": html,
        }
        others |= {"generate": generate, "temperature": temperature, "top-p": top_p, "seed": seed}
        for name in (name for name, value in others.items() if value is not None and value is not False):
            raise QuestionError(f"--rollout and --{name} can't go together; leave out one of them")
        rolled = roll(
            written(text),
            token,
            nth=nth,
            layer=layer,
            pieces=pieces,
            special=special,
            model=model,
            progress=progress,
        )
        say_json(rolled) if as_json else draw(rolled)
        return
    asked = written(text)
    changed: Changed = {"mask": "causal" if mask else None, "scale": 1.0 if no_scale else None}
    with Saying(asked) as saying:
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
            model=model,
            progress=progress,
            said=saying,
        )
    if png is not None:
        save_png(found, png)
    if html is not None:
        from eyeline.views.answer_pages import explanation_page

        save_html(explanation_page(found), html, half)
    if as_json:
        say_json(found)
    elif as_csv:
        say_csv(found)
    else:
        draw(found)


def written(text: str) -> str:
    """The text, or what stdin holds if it is -."""
    if text != "-":
        return text
    from eyeline.answers import QuestionError

    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError as error:
        raise QuestionError(f"text must be UTF-8, got byte {error.object[error.start]:#04x} at {error.start}") from None


class Saying:
    """Shows new text as it comes, on a line of a terminal that is gone in the end; elsewhere nothing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._shown = False

    def __call__(self, more: str) -> None:
        self._text += more
        if sys.stderr.isatty():
            from eyeline.views.labels import tail

            self._shown = True
            line = tail(self._text, get_terminal_size().columns - 1)
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Saying:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
