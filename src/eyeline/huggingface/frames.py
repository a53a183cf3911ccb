"""The readouts of watched calls as pandas tables. Each readout names its table and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from eyeline.huggingface.watched_call import WatchedCall
from eyeline.words import worded

if TYPE_CHECKING:
    import pandas

Table = Literal["queries", "keys", "heads", "weights"]
_TABLES: tuple[Table, ...] = get_args(Table)
_FIRST_COLUMNS = ("module", "kind", "layer", "forward", "batch", "head")
Columns = dict[str, Any]


def frame(calls: Sequence[WatchedCall], of: Table | None) -> pandas.DataFrame:
    """The table that `Watched.frame` returns."""
    try:
        import pandas
    except ImportError:
        raise ImportError(worded("frame needs pandas, which isn't installed; pip install 'eyeline[hf]'")) from None
    if of is None:
        of = next(
            (table for table in ("queries", "keys", "weights") if any(_has(call, table) for call in calls)), "queries"
        )
    if of not in _TABLES:
        raise ValueError(worded("of must be one of {tables}, got {of!r}", tables=", ".join(map(repr, _TABLES)), of=of))
    make = {"queries": _queries, "keys": _keys, "heads": _heads, "weights": _weights}[of]
    tables = [pandas.DataFrame(_named(call) | columns) for call in calls for columns in make(call)]
    return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame(columns=list(_FIRST_COLUMNS))


def _has(call: WatchedCall, table: Table) -> bool:
    read = any(readout.table(found.shape) == table for readout, found in call.answers())
    return read or (table == "queries" and call.seen.sink is not None)


def _named(call: WatchedCall) -> Columns:
    return {"module": call.module, "kind": call.kind, "layer": call.layer, "forward": call.forward}


def _grid(call: WatchedCall, *sizes: int) -> list[NDArray[Any]]:
    """The indices of all texts, heads and other axes, each flattened."""
    return [axis.ravel() for axis in np.indices((len(call.seen.lse), len(call.heads), *sizes))]


def _places(call: WatchedCall, batch: NDArray[Any], head: NDArray[Any]) -> Columns:
    return {"batch": batch, "head": np.array(call.heads, np.int64)[head]}


def _lines(columns: Columns, real: NDArray[np.bool_] | None, *place: NDArray[Any]) -> Columns:
    """The rows of tokens that aren't padding, flattened."""
    flat = {name: column.reshape(-1) for name, column in columns.items()}
    return flat if real is None else {name: column[real[place]] for name, column in flat.items()}


def _queries(call: WatchedCall) -> list[Columns]:
    if not _has(call, "queries"):
        return []
    batch, head, query = _grid(call, call.seen.lse.shape[2])
    columns = _places(call, batch, head) | {"query": query + call.first_query} | call.columns("queries")
    return [_lines(columns, call.real, batch, query)]


def _keys(call: WatchedCall) -> list[Columns]:
    if not _has(call, "keys"):
        return []
    batch, head, key = _grid(call, call.keys)
    columns = _places(call, batch, head) | {"key": key + call.first_key} | call.columns("keys")
    return [_lines(columns, call.real_keys, batch, key)]


def _heads(call: WatchedCall) -> list[Columns]:
    batch, head = _grid(call)
    means = {f"mean_{name}": call.mean(name).reshape(-1) for name in call.averaged() if name != "lse"}
    return [_places(call, batch, head) | means]


def _weights(call: WatchedCall) -> list[Columns]:
    tables = []
    for readout, found in call.answers():
        if readout.table(found.shape) != "weights":
            continue
        queries, keys = readout.rectangle(found.shape)
        batch, head, row, column = _grid(call, len(queries), len(keys))
        places = {"query": queries[row] + call.first_query, "key": keys[column] + call.first_key}
        columns = _places(call, batch, head) | places | readout.tabulated(found)
        tables.append(_lines(columns, call.real, batch, queries[row]))
    return tables
