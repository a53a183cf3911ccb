"""The page of a toy: its numbers as the page's state holds them, and as a trace for the other views."""

from __future__ import annotations

from eyeline.answers import Toy
from eyeline.views.page import Page
from eyeline.views.toy_tables import told


def toy_page(found: Toy) -> Page:
    """Make the page of a toy, which opens on it; its other views show the same numbers."""
    row = told(found)
    state = {"view": "toy", "head": 0, "token": row, "toy": toy_text(found, row)}
    return Page([found.trace], state)


def toy_text(found: Toy, row: int) -> str:
    """A toy as the page's state holds it: "time:0.5,-1.5:1.5,0.5:2,0;…/causal/unscaled/row1"."""
    vectors = zip(found.q.tolist(), found.k.tolist(), found.v.tolist(), strict=True)
    tokens = [
        ":".join(
            [_coded(word), *(",".join(f"{number:.3f}".rstrip("0").rstrip(".") for number in one) for one in three)]
        )
        for word, three in zip(found.words, vectors, strict=True)
    ]
    settings = [found.mask, None if found.divided else "unscaled", f"row{row}"]
    return "/".join([";".join(tokens), *filter(None, settings)])


def _coded(word: str) -> str:
    """Signs that mean something in an address become $XX."""
    return "".join(
        sign if sign.isalnum() or sign == "-" else "".join(f"${byte:02x}" for byte in sign.encode()) for sign in word
    )
