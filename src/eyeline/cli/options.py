"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Text = Annotated[str, typer.Argument(help="The sentence, in quotes; - reads it from stdin.", show_default=False)]
Nth = Annotated[int | None, typer.Option(help="Which one, where the word is there twice.", show_default=False)]
Layer = Annotated[int | None, typer.Option(help="Layer, from 0. Default: the last.", show_default=False)]
Head = Annotated[int | None, typer.Option(help="Head, from 0. Default: the mean of all.", show_default=False)]
Special = Annotated[
    bool, typer.Option("--special", help="Draw [CLS], [SEP], a decoder's first token one by one, not as one part.")
]
Shares = Annotated[bool, typer.Option("--shares", help="Draw shares of the words alone, without special tokens.")]
Top = Annotated[
    int | None,
    typer.Option(metavar="N", help="Draw N words at most, those that get most. Default: 40.", show_default=False),
]
ModelName = Annotated[str, typer.Option(help="A name that `eyeline models` lists, or a folder.")]
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write the page, to be opened in a browser.", show_default=False),
]
Half = Annotated[bool, typer.Option("--half", help="The page's numbers in float16: a file half as large.")]
Port = Annotated[int, typer.Option(help="The port of the address.", show_default="one that is free", min=0, max=65535)]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]
KeepHeads = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="HEAD",
        help="Put a head's W_q, W_k, W_v and W_o into the page, such as L0H3. Can be repeated.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print all the numbers as JSON (see docs/json.md).")]


class PartName(StrEnum):
    """Parts of an encoder-decoder by name."""

    encoder = "encoder"
    decoder = "decoder"
    cross = "cross"


Part = Annotated[
    PartName | None,
    typer.Option(
        help="Of an encoder-decoder: encoder (what is read) or decoder (what is written) alone, or cross: a word that "
        "is written.",
        show_default=False,
    ),
]


class MaskName(StrEnum):
    """Masks by name."""

    causal = "causal"


Mask = Annotated[
    MaskName | None, typer.Option(help="Also run with this mask: causal may not look ahead.", show_default=False)
]
