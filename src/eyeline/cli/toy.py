"""`eyeline toy`: attention with a few small numbers, every step of softmax(QKᵀ/√d)V."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from eyeline.cli.options import AsJson, Html
from eyeline.cli.results import check_results, draw, print_csv, print_json, save_html
from eyeline.words import worded


class ToyMask(StrEnum):
    """The masks of a toy by name."""

    causal = "causal"
    padding = "padding"


Rows = Annotated[
    str | None, typer.Option(metavar="ROWS", help='One row for each word: "1,0; 0.5,1; 0,-1".', show_default=False)
]


def toy(
    words: Annotated[
        str | None, typer.Option(help="1 to 8 words. Default: time flies arrow.", show_default=False)
    ] = None,
    q: Rows = None,
    k: Rows = None,
    v: Rows = None,
    no_scale: Annotated[bool, typer.Option("--no-scale", help="Don't divide the scores by √d.")] = False,
    mask: Annotated[
        ToyMask | None,
        typer.Option(help="causal hides the words ahead, padding the last word.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all the numbers as CSV, in UTF-8.")] = False,
    html: Html = None,
) -> None:
    """Compute attention step by step with numbers that fit on one screen; --q, --k and --v change them."""
    from eyeline.views import attach

    check_results(as_json, as_csv, html=html)
    answer = attach.toy(
        None if words is None else words.replace(",", " ").split(),
        q=_rows("q", q),
        k=_rows("k", k),
        v=_rows("v", v),
        scale=not no_scale,
        mask=None if mask is None else mask.value,
    )
    if html is not None:
        from eyeline.views.toy_page import toy_page

        save_html(toy_page(answer), html, half=False)
    if as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    else:
        draw(answer)


def _rows(name: str, given: str | None) -> list[list[float]] | None:
    """The rows of "1,0; 0.5,1": rows end with semicolons, numbers with commas or spaces."""
    from eyeline.answers import QuestionError

    if given is None:
        return None
    rows = []
    for line in given.replace("−", "-").split(";"):
        try:
            rows.append([float(number) for number in line.replace(",", " ").split()])
        except ValueError as error:
            wrong = str(error).rpartition(": ")[2]
            raise QuestionError(
                worded(
                    "--{name} must have numbers, got {wrong}; separate numbers by commas and rows by semicolons",
                    name=name,
                    wrong=wrong,
                )
            ) from None
        if not rows[-1]:
            raise QuestionError(
                worded(
                    "--{name} must have a number in each row, got {given!r}, where a row is empty",
                    name=name,
                    given=given,
                )
            )
    return rows
