"""What was seen, as pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.huggingface.watched_calls import PER_QUERY
from eyeline.readouts import Weights

if TYPE_CHECKING:
    import pandas

    from eyeline.huggingface.watched_calls import Watched, WatchedCall

_TABLES = ("queries", "keys", "heads", "weights")
_FIRST = ("module", "kind", "layer", "forward", "batch", "head")


def frame(seen: Watched, of: str | None) -> pandas.DataFrame:
    """The table that `Watched.frame` gives."""
    try:
        import pandas
    except ImportError:
        raise ImportError("frame needs pandas, which isn't installed; pip install 'eyeline[hf]'") from None
    if of is None:
        of = next((table for table in _TABLES if any(_has(look, table) for look in seen)), "queries")
    if of not in _TABLES:
        raise ValueError(f"of must be one of {', '.join(map(repr, _TABLES))}, got {of!r}")
    make = {"queries": _queries, "keys": _keys, "heads": _heads, "weights": _weights}[of]
    tables = [pandas.DataFrame(_named(look) | make(look)) for look in seen if of == "heads" or _has(look, of)]
    return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame(columns=list(_FIRST))


def _has(look: WatchedCall, table: str) -> bool:
    seen = look.seen
    if table == "keys":
        return seen.received is not None
    if table == "weights":
        return seen.weights is not None
    return any(x is not None for x in (seen.entropy, seen.mean_distance, seen.top_k, seen.group_mass, seen.sink))


def _named(look: WatchedCall) -> dict[str, Any]:
    return {"module": look.module, "kind": look.kind, "layer": look.layer, "forward": look.forward}


def _grid(look: WatchedCall, *sizes: int) -> list[NDArray[Any]]:
    """The indices of all batch elements, heads and what else is counted, each flat."""
    return [axis.ravel() for axis in np.indices((len(look.seen.lse), len(look.heads), *sizes))]


def _shown(look: WatchedCall, batch: NDArray[Any], query: NDArray[Any]) -> NDArray[np.bool_]:
    """Which lines are of queries that are no padding."""
    return np.ones(len(batch), bool) if look.real is None else look.real[batch, query]


def _queries(look: WatchedCall) -> dict[str, Any]:
    seen = look.seen
    batch, head, query = _grid(look, seen.lse.shape[2])
    kept = _shown(look, batch, query)
    columns: dict[str, Any] = {
        "batch": batch,
        "head": np.array(look.heads, np.int64)[head],
        "query": query + look.first_query,
    }
    for name, attribute in PER_QUERY.items():
        if getattr(seen, attribute) is not None:
            columns[name] = getattr(seen, attribute).reshape(-1)
    if seen.group_mass is not None:
        columns |= {
            f"group_mass_{group}": seen.group_mass[..., group].reshape(-1) for group in range(seen.group_mass.shape[-1])
        }
    if seen.top_k is not None:
        for nth in range(seen.top_k.keys.shape[-1]):
            keys = seen.top_k.keys[..., nth].reshape(-1)
            columns[f"top_{nth + 1}_key"] = np.where(keys < 0, -1, keys + look.first_key)
            columns[f"top_{nth + 1}_weight"] = seen.top_k.weights[..., nth].reshape(-1)
    return {name: column[kept] for name, column in columns.items()}


def _keys(look: WatchedCall) -> dict[str, Any]:
    received = look.seen.received
    assert received is not None
    batch, head, key = _grid(look, received.shape[2])
    kept = np.ones(len(key), bool) if look.real_keys is None else look.real_keys[batch, key]
    columns = {
        "batch": batch,
        "head": np.array(look.heads, np.int64)[head],
        "key": key + look.first_key,
        "received": received.reshape(-1),
    }
    return {name: column[kept] for name, column in columns.items()}


def _heads(look: WatchedCall) -> dict[str, Any]:
    batch, head = _grid(look)
    means = {
        f"mean_{name}": look.mean(name).reshape(-1)
        for name, attribute in PER_QUERY.items()
        if name != "lse" and getattr(look.seen, attribute) is not None
    }
    return {"batch": batch, "head": np.array(look.heads, np.int64)[head], **means}


def _weights(look: WatchedCall) -> dict[str, Any]:
    weights = look.seen.weights
    assert weights is not None
    asked = next(one for one in look.seen.read if isinstance(one, Weights))
    rows, columns = asked.rows(look.seen.lse.shape[2]), asked.columns(look.keys)
    batch, head, row, column = _grid(look, len(rows), len(columns))
    kept = _shown(look, batch, rows[row])
    table = {
        "batch": batch,
        "head": np.array(look.heads, np.int64)[head],
        "query": rows[row] + look.first_query,
        "key": columns[column] + look.first_key,
        "weight": weights.reshape(-1),
    }
    return {name: values[kept] for name, values in table.items()}
