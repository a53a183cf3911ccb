"""A head's queries, keys, values, lse and mask."""

from __future__ import annotations

from typing import Any

from eyeline.views.page.edited_layers import as_sent, factors
from eyeline.views.page.requests.request import AskedPage, Reply, Request, head_of, layer_of, trace_of

#: The name of a mask's array, by the mask's kind.
MASK_ARRAYS = {"bounds": "bounds", "bits": "allowed"}


def answer(page: AskedPage, request: Request) -> Reply:
    """The arrays that all weights of a head are computed from."""
    trace = trace_of(page, request)
    run, head = trace.layer(layer_of(trace, request)), head_of(trace, request)
    layer = as_sent(run)
    group = head // (len(layer.q) // len(layer.k))  # a query head whose keys were patched has keys of its own
    named = {"q": layer.q[head], "k": layer.k[group], "lse": layer.lse[head]}
    if layer.v is not None:
        named["v"] = layer.v[group]
    N, D = named["q"].shape
    shape = {"N": N, "M": len(named["k"]), "D": D, "E": trace.model.value_dim}
    arrays = [array.astype("<f4", copy=False) for array in named.values()]
    reply: dict[str, Any] = {"shape": shape, "dtype": "float32", "arrays": list(named)}
    seen = layer.allowed.of_head(head)
    if seen is not None:
        reply["arrays"].append(MASK_ARRAYS[layer.allowed.kind])
        reply["mask_shape"] = list(seen.shape)
        arrays.append(seen.astype("<i4", copy=False) if layer.allowed.kind == "bounds" else seen)
    factor = factors(run, head)
    if factor is not None:
        reply["arrays"].append("factors")
        arrays.append(factor.astype("<f4", copy=False))
    return reply, arrays
