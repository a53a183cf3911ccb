"""The structure of transformers' masks, read from the closures of its mask functions.

Transformers' own mask functions are closures, or several joined; the variables of the closure tell their meaning.
Positions are those of the whole sequence: queries begin at `first_query` and keys at `first_key`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import And, Causal, Documents, Mask, Or, Window
from eyeline.words import worded

Function = Callable[[Any, Any, Any, Any], Any]


class UnreadableError(Exception):
    """Raised for a function that isn't transformers' own, or is joined in a way that has no known structure."""


class Positions(NamedTuple):
    """The positions of a call's queries and keys in the whole sequence."""

    queries: int
    keys: int
    first_query: int
    first_key: int

    @property
    def align(self) -> int | None:
        """The first query's index among the keys; None where both are the whole sequence."""
        offset = self.first_query - self.first_key
        return None if offset == 0 and self.queries == self.keys else offset


def structure(function: Function, positions: Positions) -> Mask | None:
    """The mask that one of transformers' functions describes; None where it hides nothing.

    Raises:
        UnreadableError: if its structure isn't known.
    """
    match name(function):
        case "bidirectional_mask_function":
            return None
        case "causal_mask_function":
            return Causal(positions.align)
        case "and_masks":
            return _joined_by_and(closed_over(function)["mask_functions"], positions)
        case "or_masks":
            return _joined_by_or(closed_over(function)["mask_functions"], positions)
        case "sliding_window_overlay":
            return Window(_whole(function, "sliding_window") - 1, positions.keys, positions.align)
        case "sliding_window_bidirectional_overlay":
            return Window(_whole(function, "sliding_window"), align=positions.align)
        case "chunked_overlay":
            return _chunks(function, positions)
        case "packed_sequence_mask_function":
            return _runs(_positions(closed_over(function)["packed_sequence_mask"], positions), positions)
    raise UnreadableError(getattr(function, "__qualname__", repr(function)))


def name(function: Function) -> str:
    """The name of this function, or of the function that made it, if it is transformers' own; else ""."""
    if getattr(function, "__module__", "") != "transformers.masking_utils":
        return ""
    return str(getattr(function, "__qualname__", "")).split(".")[0]


def closed_over(function: Function) -> dict[str, Any]:
    """The variables that a function closes over, by name."""
    cells = getattr(function, "__closure__", None) or ()
    return dict(zip(function.__code__.co_freevars, (cell.cell_contents for cell in cells), strict=True))


def _whole(function: Function, variable: str) -> int:
    value = closed_over(function)[variable]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UnreadableError(f"{variable} {value!r}")
    return value


def _joined_by_and(functions: tuple[Function, ...], positions: Positions) -> Mask | None:
    names = [name(function) for function in functions]
    if "packed_sequence_mask_function" in names:
        # Within one document of a pack, restarting positions differ by as much as positions in the sequence.
        functions = tuple(_without_restarts(function) for function in functions)
    masks = []
    for function in functions:
        mask = structure(function, positions)
        if isinstance(mask, Window) and "causal_mask_function" in names and mask.after == positions.keys:
            mask = Window(mask.before, 0, positions.align)
        if mask is not None:
            masks.append(mask)
    # `Causal` comes first, as masks are usually written.
    masks.sort(key=lambda mask: not isinstance(mask, Causal))
    return reduce(lambda a, b: a & b, masks) if masks else None


#: Functions that depend only on the difference of two positions.
_RELATIVE = (
    "bidirectional_mask_function",
    "causal_mask_function",
    "sliding_window_overlay",
    "sliding_window_bidirectional_overlay",
)


def _joined_by_or(functions: tuple[Function, ...], positions: Positions) -> Mask | None:
    blocks = [function for function in functions if name(function) == "blockwise_overlay"]
    masks = [structure(function, positions) for function in functions if function not in blocks]
    known = [mask for mask in masks if mask is not None]
    if len(known) < len(masks):
        return None
    if blocks and not any(hides_future(mask) for mask in known):
        raise UnreadableError(worded("blocks without the past"))
    return reduce(lambda a, b: a | b, known + [_blocks(function, positions) for function in blocks])


def _without_restarts(function: Function) -> Function:
    if name(function) != "remap_positions_for_packed_sequence":
        return function
    inner: Function = closed_over(function)["mask_function"]
    parts = closed_over(inner)["mask_functions"] if name(inner) == "and_masks" else [inner]
    if any(name(part) not in _RELATIVE for part in parts):
        raise UnreadableError(worded("positions that restart"))
    return inner


def hides_future(mask: Mask | None) -> bool:
    """Whether a mask is known to hide every key after the query's own position."""
    return isinstance(mask, Causal) or (isinstance(mask, And) and (hides_future(mask.left) or hides_future(mask.right)))


def looks_back(mask: Mask | None) -> bool:
    """Whether a mask is a decoder's: it hides the future, except keys that another part of it shows."""
    if isinstance(mask, (And, Or)):
        return looks_back(mask.left) or looks_back(mask.right)
    return isinstance(mask, Causal)


def _chunks(function: Function, positions: Positions) -> Mask:
    """The mask of chunks, counted from each text's first token, after its padding on the left."""
    size = _whole(function, "chunk_size")
    padding = np.asarray(closed_over(function)["left_padding"].cpu()).reshape(-1)
    lengths = []
    for first in (padding[:1] if (padding == padding[0]).all() else padding).tolist():
        ends = np.arange(
            positions.first_key - (positions.first_key - first) % size + size,
            positions.first_key + positions.keys,
            size,
        )
        edges = [positions.first_key, *ends.tolist(), positions.first_key + positions.keys]
        lengths.append(np.diff(edges).tolist())
    return Documents(lengths, align=positions.align)


def _positions(array: Any, positions: Positions) -> NDArray[Any]:
    """Numbers per position, (B, positions), as numbers per key, (B, M)."""
    numbers = np.asarray(array.cpu())
    keys = numbers[:, positions.first_key : positions.first_key + positions.keys]
    if keys.shape[1] != positions.keys:
        raise UnreadableError(worded("{shape} numbers for {keys} keys", shape=keys.shape[1], keys=positions.keys))
    return keys[:1] if (keys == keys[:1]).all() else keys


def _runs(labels: NDArray[Any], positions: Positions) -> Mask:
    """The mask in which each run of keys with one label is a document; a label has one run."""
    lengths = []
    for row in labels:
        starts = np.flatnonzero(np.diff(row, prepend=row[:1] - 1))
        if len(np.unique(row)) != len(starts):
            raise UnreadableError(worded("a label that comes back after another"))
        lengths.append(np.diff([*starts, len(row)]).tolist())
    return Documents(lengths, align=positions.align)


def _blocks(function: Function, positions: Positions) -> Mask:
    """The mask of bidirectional blocks. A token outside them, labelled -1, sees itself, as under a causal mask."""
    labels = _positions(closed_over(function)["block_sequence_ids"], positions).astype(np.int64)
    return _runs(np.where(labels < 0, -1 - np.arange(labels.shape[1]), labels), positions)
