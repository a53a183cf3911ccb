"""The trace file: arrays as safetensors, everything else as JSON in the metadata; docs/page-format.md describes it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from eyeline.edits import EditError
from eyeline.traces.errors import TraceError
from eyeline.traces.image import opened_image
from eyeline.traces.measures import PICTURE, Measures
from eyeline.traces.safetensors_file import EDITED_SCHEMA, SCHEMA, StoredArrays
from eyeline.traces.settings import StoredSettings
from eyeline.traces.sizes import SIZES, Sizes
from eyeline.traces.stored_edits import edits_of_layer, opened_edits
from eyeline.traces.stored_inputs import opened_inputs
from eyeline.traces.stored_layers import opened_layer
from eyeline.traces.tokenized_text import TokenizedText, Word
from eyeline.traces.trace import Array, Trace
from eyeline.words import worded


def load_trace(path: str | os.PathLike[str]) -> Trace:
    """Load a trace from its file. Its arrays are memory-mapped and read when they are used.

    Raises:
        TraceError: if the file isn't a trace, was cut short, or holds impossible values (the message names the key); a
            ValueError.
        OSError: if it can't be read.

    >>> import tempfile
    >>> from eyeline.traces import record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record("time flies like an arrow").save(f"{folder}/arrow.safetensors")
    ...     load_trace(f"{folder}/arrow.safetensors")
    <Trace of 'time flies like an arrow': minilm, as trained, 6 × 12 heads, 7 tokens>
    """
    tensors = StoredArrays(path)
    about = StoredSettings(tensors.path, "", tensors.about)
    if about.get("schema") not in (SCHEMA, EDITED_SCHEMA):
        about.wrong(
            "schema",
            worded(
                "{schema!r} or {other!r}, which this version of Eyeline reads",
                schema=SCHEMA,
                other=EDITED_SCHEMA,
            ),
        )
    entry = about.object("model")
    sizes = Sizes(entry.text("name"), *(entry.whole(name, least=0 if name == "value_dim" else 1) for name in SIZES))
    L, H, G, D, E = (getattr(sizes, name) for name in SIZES)
    if H % G:
        entry.wrong("key_heads", worded("a divisor of heads, {heads}", heads=H))
    kind = about.one_of("kind", "encoder", "decoder", "cross")
    queries = _line(about.object("queries"))
    keys = None if about.get("keys") is None else _line(about.object("keys"))
    if (keys is not None) != (kind == "cross"):
        about.wrong("keys", worded("there where kind is 'cross', and null elsewhere"))
    N, M = len(queries), len(queries if keys is None else keys)
    entries = about.items("layers")
    if len(entries) != L:
        about.wrong("layers", worded("a list of {count}, one for each layer of the model", count=L))
    edits = opened_edits(about)
    layers = [
        opened_layer(tensors, about.object("layers", number), number, (H, G), (N, M), (D, E)) for number in range(L)
    ]
    if edits:
        try:
            changes = [edits_of_layer(edits, kind, number, L, (H, G), (N, M)) for number in range(L)]
        except EditError as error:
            raise TraceError(worded("{path}: {error}; save the trace again", path=tensors.path, error=error)) from None
        layers = [replace(layer, edits=changed) for layer, changed in zip(layers, changes, strict=True)]
    cells = (min(N, PICTURE), min(M, PICTURE))
    measures = Measures(
        tensors.finite("measures.entropy", (L, H)),
        tensors.finite("measures.distance", (L, H)) if keys is None else None,
        tensors.finite("measures.aside", (L, H)),
        tensors.array("measures.pictures", "U8", (L, H, *cells)),
        tensors.finite("measures.most", (L, H)),
    )
    places, vectors = _vectors(tensors, about, L, N)
    inputs = None
    if about.get("inputs") is not None:  # older files have none
        states = vectors if places == tuple(range(N)) else None
        inputs = opened_inputs(tensors, about.object("inputs"), (L, H), (N, M), (D, E), states)
    return Trace(
        about.text("name"),
        sizes,
        kind,
        queries,
        keys,
        tuple(layers),
        measures,
        vectors,
        places,
        inputs=inputs,
        image=opened_image(tensors, about, N) if keys is None else None,
        edits=edits,
    )


def _vectors(tensors: StoredArrays, about: StoredSettings, L: int, N: int) -> tuple[tuple[int, ...], Array | None]:
    """The positions of the tokens whose vectors the file holds, and these, (L + 1, tokens, width)."""
    places = [] if about.get("vector_tokens") is None else about.items("vector_tokens")  # older files have none
    if not all(_is_place(place, 0, N - 1) for place in places):
        about.wrong("vector_tokens", worded("positions of the {count} tokens", count=N))
    if not places:
        return (), None
    width = (tensors.shape("vectors") or (0,))[-1]
    return tuple(places), tensors.finite("vectors", (L + 1, len(places), width))


def _line(entry: StoredSettings) -> TokenizedText:
    """Load a tokenized text, checked: its words cover all tokens in order, and all spans lie within the text."""
    text, pieces = entry.text("text"), entry.texts("pieces")
    N, end = len(pieces), len(text)
    ids, spans = entry.items("ids"), entry.items("spans")
    if not N:
        entry.wrong("pieces", worded("one string at least"))
    if len(ids) != N or not all(_is_place(id, -1, 2**53) for id in ids):
        entry.wrong("ids", worded("{count} whole numbers, one for each piece", count=N))
    if len(spans) != N or not all(_is_span(span, end) for span in spans):
        entry.wrong("spans", worded("{count} places of the text, [first, last), or null", count=N))
    words, reached = [], 0
    for word in entry.items("words"):
        if not isinstance(word, list) or len(word) != 2 or not _is_span(word[1], end):
            entry.wrong(
                "words", worded("pairs of tokens and a place of the text, [[first, last), [first, last) or null]")
            )
        tokens = word[0]
        if not _is_span(tokens, N) or tokens is None or tokens[0] != reached or tokens[1] <= reached:
            entry.wrong("words", worded("all the {count} tokens in order", count=N))
        reached = tokens[1]
        words.append(Word((tokens[0], tokens[1]), _span(word[1])))
    if reached != N:
        entry.wrong("words", worded("all the {count} tokens in order", count=N))
    aside, prompt = entry.items("aside"), entry.get("prompt")
    if not all(_is_place(place, 0, len(words) - 1) for place in aside):
        entry.wrong("aside", worded("places of the {count} words", count=len(words)))
    if prompt is not None and not _is_place(prompt, 0, N):
        entry.wrong("prompt", worded("a number of the {count} tokens, or null", count=N))
    unknown = [] if entry.get("unknown") is None else entry.items("unknown")  # older files have none
    if not all(_is_place(place, 0, N - 1) for place in unknown):
        entry.wrong("unknown", worded("positions of the {count} tokens", count=N))
    return TokenizedText(
        text,
        tuple(ids),
        tuple(pieces),
        tuple(map(_span, spans)),
        tuple(words),
        tuple(aside),
        prompt,
        tuple(unknown),
    )


def _is_place(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_span(value: object, end: int) -> bool:
    if value is None:
        return True
    if not isinstance(value, list) or len(value) != 2 or not all(_is_place(place, 0, end) for place in value):
        return False
    return bool(value[0] <= value[1])


def _span(value: Any) -> tuple[int, int] | None:
    return None if value is None else (value[0], value[1])
