"""The three traces of an encoder-decoder, with the tokens of their rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from eyeline.edits import Edit
from eyeline.models import Tokens
from eyeline.traces.keep import Keep
from eyeline.traces.trace import Trace


@dataclass(frozen=True, eq=False)
class Parts:
    """An encoder-decoder's run: what it read, and what it wrote.

    Attributes:
        encoder, decoder, cross: the traces of its three kinds of attention.
        read: the encoder's tokens, the keys of cross-attention.
        inputs: the decoder's tokens.
        rows: the queries of cross-attention: of Eyeline's own model, the token that each step writes; of a model of
            transformers, the decoder's tokens.
    """

    encoder: Trace
    decoder: Trace
    cross: Trace
    read: Tokens
    inputs: Tokens
    rows: Tokens

    @property
    def traces(self) -> list[Trace]:
        """The three traces."""
        return [self.encoder, self.decoder, self.cross]


class RecordsParts(Protocol):
    """A model of text that records three traces at once.

    Attributes:
        has_parts: whether it is an encoder-decoder.
    """

    @property
    def has_parts(self) -> bool: ...

    def record_parts(
        self,
        text: str,
        keep: Keep,
        *,
        target: str | None = None,
        edits: Sequence[Edit] = (),
        cancelled: Callable[[], bool] | None = None,
        layer_done: Callable[[int, int], None] | None = None,
    ) -> Parts:
        """Run the model once over a text.

        Args:
            text: the text that is read.
            keep: what the traces keep.
            target: what the decoder is to write; what it writes by itself if not given.
            edits: what is changed in some heads.
            cancelled, layer_done: as for `TextModel.record`.
        """


def records_parts(model: object) -> TypeGuard[RecordsParts]:
    """Whether a model of text is an encoder-decoder."""
    return bool(getattr(model, "has_parts", False))
