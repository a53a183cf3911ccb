"""Traces from random arrays, for pages: any text, any mask, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from eyeline.calls import observe
from eyeline.masks import Causal, Mask
from eyeline.traces import LayerTrace, Sizes, TokenizedText, Trace
from eyeline.traces.allowed import allowed
from eyeline.traces.image import Image, patch_tokens
from eyeline.traces.measures import asked, measures
from eyeline.traces.tokenized_text import Word

FLIES = "time flies like an arrow"
#: Texts that were markup, script or steering of the line, if anything took them for it.
HOSTILE = {
    "markup": "</script><img src=x onerror=window.ran=1> <svg onload=window.ran=1> <b>bold</b> &amp; &lt;",
    "comment": "<!--<script> --> ]]> <![CDATA[ </style><style>*{display:none}</style> </title>",
    "quotes": '" \' ` \\ \\" \\u0041 ${window.ran=1} `${window.ran=1}` {{x}} %s {text} {head}',
    "controls": "a\x00b c\x07d e\x1b[31mf g\u2028h i\u2029j k\ufeffl",
    "steering": "abc\u202edef ghi\u2066jkl mno\u2069pqr stu\u200fvwx",
    "long": "w" * 3000 + " short",
    "marks": "\u0301\u0302 e\u0301a\u0300 \u0e31\u0e49 \u20dd",
    "keys": "__proto__ constructor toString hasOwnProperty 0 -1 null undefined NaN",
}


def line(
    text: str, *, pieces: int = 1, special: bool = True, causal: bool = False, prompt: int | None = None
) -> TokenizedText:
    """A text cut at its spaces into words, and these into pieces.

    Args:
        text: any.
        pieces: the most pieces of a word: 2 cuts each longer one in its middle.
        special: whether [CLS] and [SEP] stand around it.
        causal: whether tokens look only back: the first word is then set aside.
        prompt: how many tokens were given, if the others were generated.
    """
    spans: list[tuple[int, int] | None] = []
    words: list[Word] = []
    spellings: list[str] = []

    def add(spellings_: Sequence[str], spans_: Sequence[tuple[int, int] | None], span: tuple[int, int] | None) -> None:
        words.append(Word((len(spans), len(spans) + len(spans_)), span))
        spans.extend(spans_)
        spellings.extend(spellings_)

    if special:
        add(["[CLS]"], [None], None)
    place = 0
    for word in text.split(" "):
        if word:
            cuts = np.unique(np.linspace(0, len(word), min(pieces, len(word)) + 1).astype(int))
            parts = [(place + int(first), place + int(last)) for first, last in pairwise(cuts)]
            add([text[first:last] for first, last in parts], parts, (place, place + len(word)))
        place += len(word) + 1
    if special:
        add(["[SEP]"], [None], None)
    aside = {number for number, word in enumerate(words) if word.span is None} | ({0} if causal else set())
    ids = tuple(range(100, 100 + len(spans)))
    return TokenizedText(text, ids, tuple(spellings), tuple(spans), tuple(words), tuple(sorted(aside)), prompt)


def trace(
    queries: str | TokenizedText = FLIES,
    keys: str | TokenizedText | None = None,
    *,
    layers: int = 2,
    heads: int = 3,
    key_heads: int | None = None,
    head_dim: int = 8,
    value_dim: int | None = 8,
    mask: Mask | None = None,
    scale: float | None = None,
    name: str = "as trained",
    model: str = "random",
    seed: int = 0,
    spread: float = 1.5,
    **options: Any,
) -> Trace:
    """A trace of random q, k and v.

    Args:
        queries, keys: lines, or texts that `line` cuts; without keys, tokens look at their own line.
        layers, heads, key_heads, head_dim: L, H, G and D.
        value_dim: E; None for a trace without values.
        mask: where queries may look.
        scale: 1 / √D if not given.
        name, model: as the page shows them.
        seed: of the numbers.
        spread: how far scores lie apart: their standard deviation.
        options: further ones of `line`.
    """
    causal = mask == Causal() and keys is None
    queries = line(queries, causal=causal, **options) if isinstance(queries, str) else queries
    keys = line(keys, **options) if isinstance(keys, str) else keys
    N, M, G = len(queries), len(queries if keys is None else keys), key_heads or heads
    scale = 1 / head_dim**0.5 if scale is None else scale
    random = np.random.default_rng(seed)
    kept, seen = [], []
    for _ in range(layers):
        q = spread * random.standard_normal((heads, N, head_dim), np.float32)
        k = random.standard_normal((G, M, head_dim), np.float32)
        v = random.standard_normal((G, M, value_dim or 0), np.float32)
        found = observe(q[None], k[None], v[None], mask=mask, scale=scale, read=asked(queries, keys))
        lse = found.lse[0]
        where = allowed(mask, heads, N, M)
        kept.append(LayerTrace(q, k, None if value_dim is None else v, lse, scale, where))
        seen.append(found)
    sizes = Sizes(model, layers, heads, G, head_dim, value_dim or 0)
    kind: Literal["encoder", "decoder", "cross"] = "cross" if keys is not None else "decoder" if causal else "encoder"
    return Trace(name, sizes, kind, queries, keys, tuple(kept), measures(seen))


def seen(
    trace: Trace,
    *,
    allowed: np.ndarray | None = None,
    ahead: bool = True,
    padded: int = 0,
    removed: Sequence[int] = (),
) -> np.ndarray:
    """Where queries may look with what is changed, (N, M).

    Args:
        trace: any.
        allowed: where they may as trained; everywhere if not given.
        ahead: whether to keys behind their own place.
        padded: how many last keys are padding.
        removed: the keys that are taken out.
    """
    N, M = len(trace.queries), len(trace.across)
    seen = np.ones((N, M), bool) if allowed is None else allowed.copy()
    if not ahead:
        seen &= np.tri(N, M, dtype=bool)
    seen[:, M - padded :] = False
    seen[:, list(removed)] = False
    return seen


def image_trace(rows: int = 4, columns: int = 6, **options: Any) -> Trace:
    """A trace whose tokens are [CLS] and the patches of a drawn image, of 16 × 16 pixels each.

    Args:
        rows, columns: of patches.
        options: further ones of `trace`.
    """
    y, x = np.mgrid[: 16 * rows, : 16 * columns]
    pixels = np.zeros((*y.shape, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = 40 + 180 * x // (16 * columns), 40 + 180 * y // (16 * rows)
    pixels[(y - 8 * rows) ** 2 + (x - 8 * columns) ** 2 < (5 * rows) ** 2] = 240, 220, 90  # a sun
    image = Image(pixels, rows, columns, 1)
    return replace(trace(patch_tokens(image, ["[CLS]"]), **options), image=image)


def words(count: int, seed: int = 0) -> str:
    """A text of many words, none of them any language's.

    >>> words(4)
    'pemogi bi be si'
    """
    random = np.random.default_rng(seed)
    syllables = [first + second for first in "bdfgklmnprstv" for second in "aeiou"]
    return " ".join("".join(random.choice(syllables, random.integers(1, 4))) for _ in range(count))
