"""A user's own arrays and words, checked, in a trace's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from eyeline.masks import Mask
from eyeline.traces.errors import TraceError
from eyeline.traces.layer_trace import LayerArrays, layers_of
from eyeline.traces.tokenized_text import TokenizedText, of_words

Lines = tuple[TokenizedText, TokenizedText | None]


def given(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike | None,
    mask: Mask | None,
    scale: float | None,
    queries: Sequence[str],
    keys: Sequence[str] | None,
    names: Mapping[str, object],
) -> tuple[list[LayerArrays], Lines]:
    """The layers and the two lines of words of the arguments of `Trace.of`.

    Raises:
        TraceError: if an argument has a wrong shape, dtype or value.
    """
    layers = layers_of(q, k, v, mask, scale)
    lines = of_words(queries), None if keys is None else of_words(keys, "keys")
    shapes = {"q": layers[0].q.shape, "k": layers[0].k.shape}
    for what, line, array in (("queries", lines[0], "q"), ("keys", lines[1] or lines[0], "k")):
        if len(line) != shapes[array][1]:
            raise TraceError(
                f"{what} must be {shapes[array][1]} words, one for each token of {array}, got {len(line)}"
                + ("; give keys= too, where they are another line" if what == "keys" and keys is None else "")
            )
    for label, text in names.items():
        if not isinstance(text, str):
            raise TraceError(f"{label} must be a string, got {type(text).__name__}")
    return layers, lines
