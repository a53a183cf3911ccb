"""Which edits concern a call, in the order in which they act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eyeline.edits.call_edits import CallEdits, joined
from eyeline.edits.edit import Edit, EditStage
from eyeline.edits.errors import EditError
from eyeline.edits.places import CallPlace
from eyeline.words import worded

#: What `edits=` takes.
Edits = Sequence[Edit] | Edit | CallEdits
#: What a head can have replaced once, by the name of a patch, or else by the stage.
_REPLACED = {
    "q": "queries",
    "k": "keys",
    "v": "values",
    "output": "output",
    EditStage.WEIGHTS: "weights",
    EditStage.OUTPUT: "output",
}


def several(edits: Any) -> tuple[Edit, ...]:
    """The edits as a tuple, checked.

    Raises:
        TypeError: if one of them isn't an edit.
    """
    given = tuple(edits) if isinstance(edits, (list, tuple)) else (edits,)
    for one in given:
        if not isinstance(one, Edit):
            raise TypeError(
                worded("edits must be edits, such as eyeline.edits.Gate(layer=0, head=0), got {one!r:.60}", one=one)
            )
    return given


def in_order(edits: Sequence[Edit], place: CallPlace, layers: int | None = None) -> list[Edit]:
    """The edits of a call, in the order in which they act, whatever the list's.

    Args:
        edits: the edits of a model.
        place: the call.
        layers: how many layers of its kind the model has, if known; slices with negative numbers need it.

    Raises:
        EditError: if a head isn't there, or has two edits of which there can be only one.
    """
    for one in edits:
        if place.layer is None and (one.layer is not None or one.kind is not None):
            raise EditError(
                worded("layer and kind must be left out where a single call is edited, got {one!r}", one=one)
            )
    found = [one for one in edits if one.concerns(place, layers)]
    found.sort(key=lambda one: (one.stage, getattr(one, "key_head", None) is None))
    taken: dict[tuple[str, bool, int], list[Edit]] = {}  # a patch of a group of heads acts before those of its heads
    for one in found:
        replaced = _REPLACED.get(getattr(one, "name", one.stage))
        for head in one.heads_in(place) if replaced is not None else ():
            before = taken.setdefault((str(replaced), getattr(one, "key_head", None) is not None, head), [])
            for other in before:
                if not _differ(other, one):
                    raise EditError(
                        worded(
                            "edits must replace a head's {replaced} once, got {other!r} and {one!r} for head {head} in "
                            "{named}; leave one of them out",
                            replaced=replaced,
                            other=other,
                            one=one,
                            head=head,
                            named=place.named,
                        )
                    )
            before.append(one)
    return found


def _differ(one: Edit, other: Edit) -> bool:
    """Whether two edits are of different tokens: only patches may then stand side by side."""
    a, b = getattr(one, "positions", None), getattr(other, "positions", None)
    if a is None or b is None or isinstance(a, slice) or isinstance(b, slice):
        return False
    a, b = ({x} if isinstance(x, (int, str)) else set(x) for x in (a, b))
    return not a & b


def lowered(edits: Edits, place: CallPlace, layers: int | None = None) -> CallEdits:
    """The edits of a call as primitives; arguments and errors as `in_order`."""
    if isinstance(edits, CallEdits):
        return edits
    return joined(one.lower(place) for one in in_order(several(edits), place, layers))
