"""The mask function that transformers calls, once per forward pass and layer type.

Models pass its result unchanged to the attention function. So no n × n tensor is made: a `StructuredMask` holds one of
Eyeline's masks and the positions of the padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.masking_utils import causal_mask_function, eager_mask

from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.mask_structure import Function, Positions, UnreadableError, hides_future, name, structure
from eyeline.huggingface.structured_mask import StructuredMask
from eyeline.masks import Dense, Intervals, Mask, Padding
from eyeline.words import worded

#: The number of booleans evaluated at a time, of a mask function whose structure isn't known.
_BLOCK_SIZE = 1 << 24


def mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | Tensor = 0,
    kv_offset: int = 0,
    mask_function: Function | None = None,
    attention_mask: Any = None,
    use_vmap: bool = False,
    device: torch.device | str = "cpu",
    **kwargs: Any,
) -> Any:
    """Make a `StructuredMask` from transformers' description of a mask, with the arguments of its mask functions.

    Args:
        batch_size: B.
        q_length, kv_length: N and M.
        q_offset, kv_offset: their first positions in the whole sequence; a tensor with a cache of fixed size.
        mask_function: a function of (batch element, head, query, key), with positions in the whole sequence.
        attention_mask: (B, positions), False where there is padding; or a `StructuredMask` that was made earlier.
        use_vmap: whether the function takes only single positions.
        device: the model's device.

    Raises:
        HuggingFaceError: if `attention_mask` has neither 2 nor 4 axes.
    """
    if isinstance(attention_mask, StructuredMask):
        return attention_mask
    if isinstance(attention_mask, Tensor) and attention_mask.ndim != 2:
        raise HuggingFaceError(
            worded(
                "attention_mask must be (texts, tokens), or (texts, 1 or heads, queries, keys), got {shape}",
                shape=" × ".join(map(str, attention_mask.shape)),
            )
        )
    mask_function = mask_function or causal_mask_function
    shape = (batch_size, 1, q_length, kv_length)
    if torch.compiler.is_compiling():
        return _traced(shape, q_offset, kv_offset, mask_function, attention_mask, device)
    positions = Positions(q_length, kv_length, int(q_offset), int(kv_offset))
    try:
        found = structure(mask_function, positions)
    except UnreadableError:
        found = _evaluated_mask(mask_function, shape, positions, use_vmap, device)

    def dense() -> Tensor:
        made: Tensor = eager_mask(
            batch_size=batch_size,
            q_length=q_length,
            kv_length=kv_length,
            q_offset=positions.first_query,
            kv_offset=positions.first_key,
            mask_function=mask_function,
            attention_mask=attention_mask,
            use_vmap=use_vmap,
            device=device,
            dtype=kwargs.get("dtype", torch.float32),
        )
        return made

    if attention_mask is None:
        return StructuredMask(found, positions, None, shape, dense)
    all_real = bool(attention_mask.all())
    if not all_real or positions.first_key + kv_length > attention_mask.shape[1]:
        padding = _padding(np.asarray(attention_mask.cpu()), positions, hides_future(found))
        found = padding if found is None else found if padding is None else found & padding
    return StructuredMask(found, positions, None if all_real else attention_mask, shape, dense)


def _padding(tokens: NDArray[np.bool_], positions: Positions, future_hidden: bool) -> Mask | None:
    """The mask of keys that aren't padding. Keys beyond `tokens` are cache slots that aren't filled yet."""
    keys = tokens[:, positions.first_key : positions.first_key + positions.keys]
    # Where the future is hidden anyway, these slots needn't be masked.
    shown = future_hidden and positions.first_query + positions.queries <= tokens.shape[1]
    if (shown or keys.shape[1] == positions.keys) and keys.all():
        return None
    real = np.concatenate([keys, np.full((len(keys), positions.keys - keys.shape[1]), shown)], axis=1)
    counts = real.sum(axis=1)
    first = np.where(counts > 0, real.argmax(axis=1), 0)
    if not positions.keys or (real == _between(first, first + counts, positions.keys)).all():
        if (first[counts > 0] == 0).all():
            return Padding(keys=counts)
        if (first + counts == positions.keys)[counts > 0].all():
            return Padding(keys=counts, side="left")
        return Intervals(np.stack([first, first + counts], axis=-1)[:, None, None])
    return Dense(real[:, None, None])


def _between(first: NDArray[Any], last: NDArray[Any], size: int) -> NDArray[np.bool_]:
    j = np.arange(size)
    return np.asarray((first[:, None] <= j) & (j < last[:, None]))


def _evaluated_mask(
    function: Function, shape: tuple[int, ...], positions: Positions, use_vmap: bool, device: torch.device | str
) -> Mask:
    """The mask of a function with unknown structure: evaluated some rows at a time, and stored as intervals."""
    B, _, N, M = shape
    rows = list(_rows(function, shape, positions, use_vmap, device))
    if not rows:
        return Intervals(np.zeros((1, 1, 0, 2), np.int64))
    edges = [_edges(block) for block in rows]
    most = max(found.shape[2] for found in edges)
    if 8 * most > M:  # an interval takes 8 bytes, a boolean 1
        return Dense(np.concatenate(rows, axis=1)[:, None])
    whole = np.zeros((B, N, most, 2), np.int32)
    first = 0
    for found in edges:
        whole[:, first : first + found.shape[1], : found.shape[2]] = found
        first += found.shape[1]
    return Intervals(whole)


def _rows(
    function: Function, shape: tuple[int, ...], positions: Positions, use_vmap: bool, device: torch.device | str
) -> Iterator[NDArray[np.bool_]]:
    """Blocks of rows, (B, n, M)."""
    B, _, N, M = shape
    n = max(1, _BLOCK_SIZE // max(B * M, 1))
    batch, head = torch.arange(B, device=device), torch.zeros(1, dtype=torch.long, device=device)
    keys = torch.arange(positions.first_key, positions.first_key + M, device=device)
    for first in range(0, N, n):
        queries = torch.arange(first, min(first + n, N), device=device) + positions.first_query
        yield np.asarray(evaluated(function, batch, head, queries, keys, use_vmap).expand(B, 1, -1, M)[:, 0].cpu())


def evaluated(
    function: Function, batch: Tensor, head: Tensor, queries: Tensor, keys: Tensor, use_vmap: bool = False
) -> Tensor:
    """Evaluate the function for all combinations; the shape broadcasts to (B, H, N, M)."""
    if not use_vmap:
        result: Tensor = function(
            batch[:, None, None, None], head[None, :, None, None], queries[None, None, :, None], keys
        )
        return result
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    for axes in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        function = torch.vmap(function, in_dims=axes)
    # A user's function may use a position as an index, and positions are tensors here.
    with TransformGetItemToIndex():
        return function(batch, head, queries, keys)  # type: ignore[no-any-return]


def _edges(allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Rows of booleans, (B, n, M), as intervals, (B, n, K, 2), where K is the largest number of intervals in a row."""
    change = np.diff(allowed.astype(np.int8), axis=2, prepend=0, append=0)
    b, i, starts = np.nonzero(change == 1)
    stops = np.nonzero(change == -1)[2]
    row = b * allowed.shape[1] + i
    counts = np.bincount(row, minlength=allowed.shape[0] * allowed.shape[1])
    nth = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = np.zeros((allowed.shape[0], allowed.shape[1], int(counts.max(initial=0)), 2), np.int32)
    found[b, i, nth, 0], found[b, i, nth, 1] = starts, stops
    return found


def _traced(
    shape: tuple[int, ...],
    q_offset: int | Tensor,
    kv_offset: int,
    function: Function,
    tokens: Tensor | None,
    device: torch.device | str,
) -> StructuredMask:
    """The mask under `torch.compile`, where values read from tensors have to stay in tensors."""
    B, _, N, M = shape
    padding = None
    if tokens is not None:
        keys = tokens[:, kv_offset : kv_offset + M]
        padding = Dense(torch.nn.functional.pad(keys, (0, M - keys.shape[1]))[:, None, None])
    positions = None if isinstance(q_offset, Tensor) else Positions(N, M, q_offset, kv_offset)
    found: Mask | None
    if positions is not None and name(function) in ("bidirectional_mask_function", "causal_mask_function"):
        found = structure(function, positions)
    else:
        batch, head = torch.arange(B, device=device), torch.zeros(1, dtype=torch.long, device=device)
        queries = torch.arange(N, device=device) + q_offset
        keys = torch.arange(M, device=device) + kv_offset
        found = Dense(evaluated(function, batch, head, queries, keys).expand(-1, -1, N, M))
    found = padding if found is None else found if padding is None else found & padding
    return StructuredMask(found, positions, None, shape)
