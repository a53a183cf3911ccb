"""Edits of a transformers model for a recording: words found in its texts, and the run edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Literal, NamedTuple

from eyeline.edits import Edit, EditError
from eyeline.models import Tokens
from eyeline.traces.finding_words import word_positions


class RunEdits(NamedTuple):
    """The edits of a run: as they were written, and with positions in place of words."""

    written: tuple[Edit, ...] = ()
    found: tuple[Edit, ...] = ()


UNEDITED = RunEdits()


def edits_found(
    edits: Sequence[Edit], model: Any, text: object, written: Callable[[], object] | None = None
) -> RunEdits:
    """Find the words of edits.

    Args:
        edits: edits of a model of transformers.
        model: the model.
        text: the tokens of the text, where they are known.
        written: of an encoder-decoder, gives the decoder's tokens; called where a word has to be found among them.

    Raises:
        EditError: if the model hasn't such a layer or head, or a word isn't in its text, or is in it twice.
    """
    if not any(one.has_words for one in edits):
        return RunEdits(tuple(edits), tuple(edits))
    from eyeline.huggingface.attention_modules import attention_modules, check_edits

    check_edits(edits, attention_modules(model))

    def found(one: Edit) -> Edit:
        def place(word: str, side: Literal["queries", "keys"]) -> list[int]:
            read = written is None or one.kind == "encoder self" or (one.kind == "cross" and side == "keys")
            tokens = text if read or written is None else written()
            if not isinstance(tokens, Tokens):
                raise EditError(
                    f"{side} must be positions where the text isn't known, got {word!r}; give numbers from 0"
                )
            return word_positions(word, tokens, side)

        return one.with_words_found(place)

    return RunEdits(tuple(edits), tuple(map(found, edits)))


@contextmanager
def edited(model: Any, edits: RunEdits) -> Iterator[RunEdits]:
    """Within the block, a model of transformers is edited; yields all its edits, those of blocks around among them."""
    from eyeline.huggingface.editing import edit
    from eyeline.huggingface.observers import edits_around

    around = edits_around(model)
    with edit(model, edits.found) if edits.found else nullcontext():
        yield RunEdits((*around, *edits.written), (*around, *edits.found))
