"""What was seen, as pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    if table == "weights":
        return Weights in look.seen
    return bool(_columns(look, table)) or (table == "queries" and look.seen.sink is not None)


def _columns(look: WatchedCall, table: str) -> dict[str, Any]:
    """What each readout has for a table, (B, H, N or M) by column; keys have their numbers in the sequence."""
    seen, columns = look.seen, {}
    for readout, found in zip(seen.read, seen.results, strict=True):
        if readout.table(found.shape) == table:
            for name, values in readout.tabulated(found).items():
                are_keys = values.dtype.kind == "i"
                columns[name] = np.where(values < 0, -1, values + look.first_key) if are_keys else values
    return columns


def _named(look: WatchedCall) -> dict[str, Any]:
    return {"module": look.module, "kind": look.kind, "layer": look.layer, "forward": look.forward}


def _grid(look: WatchedCall, *sizes: int) -> list[NDArray[Any]]:
    """The indices of all batch elements, heads and what else is counted, each flat."""
    return [axis.ravel() for axis in np.indices((len(look.seen.lse), len(look.heads), *sizes))]


def _shown(look: WatchedCall, batch: NDArray[Any], query: NDArray[Any]) -> NDArray[np.bool_]:
    """Which lines are of queries that are no padding."""
    return np.ones(len(batch), bool) if look.real is None else look.real[batch, query]


def _queries(look: WatchedCall) -> dict[str, Any]:
    batch, head, query = _grid(look, look.seen.lse.shape[2])
    kept = _shown(look, batch, query)
    columns: dict[str, Any] = {
        "batch": batch,
        "head": np.array(look.heads, np.int64)[head],
        "query": query + look.first_query,
    }
    found = look.per_query() | _columns(look, "queries")
    columns |= {name: values.reshape(-1) for name, values in found.items()}
    return {name: column[kept] for name, column in columns.items()}


def _keys(look: WatchedCall) -> dict[str, Any]:
    columns = _columns(look, "keys")
    batch, head, key = _grid(look, next(iter(columns.values())).shape[2])
    kept = np.ones(len(key), bool) if look.real_keys is None else look.real_keys[batch, key]
    table = {"batch": batch, "head": np.array(look.heads, np.int64)[head], "key": key + look.first_key}
    table |= {name: values.reshape(-1) for name, values in columns.items()}
    return {name: values[kept] for name, values in table.items()}


def _heads(look: WatchedCall) -> dict[str, Any]:
    batch, head = _grid(look)
    means = {f"mean_{name}": look.mean(name).reshape(-1) for name in look.per_query() if name != "lse"}
    return {"batch": batch, "head": np.array(look.heads, np.int64)[head], **means}


def _weights(look: WatchedCall) -> dict[str, Any]:
    asked = next(one for one in look.seen.read if isinstance(one, Weights))
    rows, columns = asked.rows(look.seen.lse.shape[2]), asked.columns(look.keys)
    batch, head, row, column = _grid(look, len(rows), len(columns))
    kept = _shown(look, batch, rows[row])
    table = {
        "batch": batch,
        "head": np.array(look.heads, np.int64)[head],
        "query": rows[row] + look.first_query,
        "key": columns[column] + look.first_key,
        "weight": look.seen[Weights].reshape(-1),
    }
    return {name: values[kept] for name, values in table.items()}
