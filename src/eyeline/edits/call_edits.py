"""All edits of one call, lowered to primitives, in the order in which they act."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from eyeline.edits.errors import EditError
from eyeline.edits.lowered import FlatHeads, FrozenWeights, NewRows, OutputFactor, Pairs, Weighting
from eyeline.words import worded


@dataclass(frozen=True, eq=False)
class CallEdits:
    """The edits of one attention call.

    Attributes, in the order in which they act:
        inputs: rows put into q, k and v.
        cuts: pairs hidden before the softmax, so that the rest is renormalised.
        flat: heads that look everywhere alike.
        frozen: weights of another run.
        weightings: factors after the softmax; the rest isn't renormalised.
        outputs: rows put into the output.
        gates: factors of the output.
    """

    inputs: tuple[NewRows, ...] = ()
    cuts: tuple[Pairs, ...] = ()
    flat: tuple[FlatHeads, ...] = ()
    frozen: tuple[FrozenWeights, ...] = ()
    weightings: tuple[Weighting, ...] = ()
    outputs: tuple[NewRows, ...] = ()
    gates: tuple[OutputFactor, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


def joined(parts: Iterable[CallEdits]) -> CallEdits:
    """Several edits of one call as one."""
    several = list(parts)
    return CallEdits(
        **{field.name: tuple(x for part in several for x in getattr(part, field.name)) for field in fields(CallEdits)}
    )


def check_replaced_once(edits: CallEdits) -> None:
    """
    Raises:
        EditError: if a head's weights, or its output at some position, are replaced twice.
    """
    heads = [head for flat in edits.flat for head in flat.heads]
    heads += [head for frozen in edits.frozen for head in frozen.pairs.heads]
    twice = {head for head in heads if heads.count(head) > 1}
    for number, one in enumerate(edits.outputs):
        for other in edits.outputs[:number]:
            if ((one.taken >= 0) & (other.taken >= 0)).any():
                twice |= set(one.heads) & set(other.heads)
    if twice:
        raise EditError(
            worded(
                "edits must replace a head's weights or output once, got several for head {min}; leave one of them out",
                min=min(twice),
            )
        )


def as_batch(edits: Sequence[CallEdits]) -> CallEdits:
    """Different edits as those of a batch: element b of the batch is edited by `edits[b]`, whose rows and columns are
    those of one text, (1, N) and (1, M), or of all, (B, N) and (B, M)."""

    def of_element(one: Any, b: int) -> Any:
        if hasattr(one, "pairs"):
            return replace(one, pairs=replace(one.pairs, batch=b))
        return replace(one, batch=b)

    return joined(
        CallEdits(**{field.name: tuple(of_element(x, b) for x in getattr(own, field.name)) for field in fields(own)})
        for b, own in enumerate(edits)
    )
