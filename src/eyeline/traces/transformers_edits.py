"""Edits of a transformers model for a recording: words found in its texts, the run edited, its calls kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from eyeline.edits import Edit, EditError
from eyeline.edits.arrays import changed_inputs
from eyeline.edits.structure import changed_mask
from eyeline.models import Tokens
from eyeline.traces.allowed import allowed
from eyeline.traces.finding_words import word_positions
from eyeline.traces.keep import Keep
from eyeline.traces.layer_trace import LayerArrays
from eyeline.traces.stored_edits import after_softmax
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.huggingface.recording import RecordedCall


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
                    worded(
                        "{side} must be positions where the text isn't known, got {word!r}; give numbers from 0",
                        side=side,
                        word=word,
                    )
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


def layer_of_call(call: RecordedCall, keep: Keep, queries: int, keys: int) -> LayerArrays:
    """A call in a trace's form: q, k and v as patched, the mask without what was cut."""
    q, k, v, mask = call.q, call.k, call.v, call.mask
    if call.edits is not None:
        q, k, v = (x[0] for x in changed_inputs(call.edits.inputs, q[None], k[None], v[None]))
        mask = changed_mask(mask, call.edits)
    return LayerArrays(
        q,
        k,
        v if keep.values else None,
        allowed(mask, len(q), queries, keys),
        call.scale,
        call.softcap,
        call.bias,
        call.sinks,
        call.lse,
        after_softmax(call.edits),
    )
