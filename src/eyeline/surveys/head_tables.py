"""The tables of a survey's heads and tokens, made of its totals; tables.py defines each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyeline.answers.behaviour.head_labels import Label, apply, labels_for
from eyeline.answers.behaviour.head_measures import SINK_TOKENS
from eyeline.surveys.scales import FIRST, NEXT, POSITION_EDGES, PREVIOUS, PUNCTUATION, SAME, SPECIAL, TYPES
from eyeline.surveys.tables import heads_schema, tokens_schema
from eyeline.surveys.tally import MEASURES, Sums
from eyeline.surveys.totals import Spread, Totals

if TYPE_CHECKING:
    import pyarrow as pa


def kinds_for(totals: Totals, causal: bool) -> tuple[Label, ...]:
    """The kinds of heads that can be given, by precedence: where no document has the sink's 64 tokens, a sink must
    exceed the threshold for short texts."""
    return labels_for(SINK_TOKENS if totals.spread["sink"].count.any() else 1, causal)


def measured(totals: Totals) -> dict[str, Sums]:
    """The measures of each head over all counted tokens, (L, H) each; NaN where no document has such tokens."""
    tokens = max(totals.tokens, 1)
    offsets, towards = totals.sums["offsets"], _towards(totals)
    sums = {
        "entropy": totals.sums["entropy"],
        "distance": totals.sums["distance"],
        "previous": offsets[..., PREVIOUS],
        "next": offsets[..., NEXT],
        "same": offsets[..., SAME],
        "first": _of_type(towards, TYPES[FIRST]),
        "special": totals.sums["special"],
        "separator": _of_type(towards, TYPES[SPECIAL]),
        "punctuation": _of_type(towards, TYPES[PUNCTUATION]),
    }
    found = {name: np.where(totals.spread[name].count > 0, sums[name] / tokens, np.nan) for name in sums}
    sink = _sink(totals)
    return found | {"sink": np.where(sink.count > 0, sink.mean, np.nan)}


def heads_table(totals: Totals, labels: Sequence[Label], induction: ArrayLike | None) -> pa.Table:
    """The table of `heads_schema`.

    Args:
        totals: the sums over all parts.
        labels: the kinds that can be given.
        induction: the scores of each head, (L, H); None if there are none.
    """
    import pyarrow as pa

    L, H = totals.shape
    numbers = measured(totals)
    numbers["induction"] = np.full((L, H), np.nan) if induction is None else np.array(induction, float).reshape(L, H)
    kinds = [
        apply(tuple(labels), {name: float(values[at]) for name, values in numbers.items()}) for at in np.ndindex(L, H)
    ]
    spread = {name: totals.spread[name].deviation for name in MEASURES} | {"sink": _sink(totals).deviation}
    tokens, towards = max(totals.tokens, 1), _towards(totals)
    varies = totals.sums["entropy_squares"] / tokens - (totals.sums["entropy"] / tokens) ** 2
    columns: dict[str, object] = {
        "layer": np.repeat(np.arange(L, dtype=np.int32), H),
        "head": np.tile(np.arange(H, dtype=np.int32), L),
        "kind": [names[0] for names in kinds],
        "kinds": [list(names) for names in kinds],
        **{name: values.ravel() for name, values in numbers.items()},
        **{f"{name}_sd": spread[name].ravel() for name in MEASURES},
        "entropy_token_sd": np.sqrt(np.maximum(varies, 0)).ravel() if totals.tokens else np.full(L * H, np.nan),
        "offsets": _lists(totals.sums["offsets"] / tokens),
        **{name: _lists(counts / tokens) for name, counts in totals.counts.items()},
        "to": _lists(np.stack([towards.get(kind, np.zeros((L, H))) for kind in totals.types], -1) / tokens),
        "received": _lists(_received(totals)),
    }
    schema = heads_schema()
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def tokens_table(totals: Totals) -> pa.Table:
    """The table of `tokens_schema`: the groups that have tokens."""
    import pyarrow as pa

    L, H = totals.shape
    place = {kind: n for n, kind in enumerate(totals.types)}
    groups = sorted((place[kind], start) for (kind, start), group in totals.groups.items() if group.count)
    ordered = [totals.groups[totals.types[kind], start] for kind, start in groups]
    G = len(groups)
    counts = np.array([group.count for group in ordered], np.int64)

    def mean(sums: list[Sums]) -> NDArray[np.float64]:
        return np.stack(sums, -1) / counts if G else np.zeros((L, H, 0))

    none = np.zeros((L, H))
    to = [mean([group.to.get(kind, none) for group in ordered]) for kind in totals.types]
    columns: dict[str, object] = {
        "layer": np.repeat(np.arange(L, dtype=np.int32), H * G),
        "head": np.tile(np.repeat(np.arange(H, dtype=np.int32), G), L),
        "type": [totals.types[kind] for kind, _ in groups] * (L * H),
        "position": np.tile(np.array([POSITION_EDGES[start] for _, start in groups], np.int64), L * H),
        "count": np.tile(counts, L * H),
        **{
            name: mean([getattr(group, name) for group in ordered]).ravel()
            for name in ("entropy", "distance", "received")
        },
        "to": _lists(np.stack(to, -1)),
    }
    schema = tokens_schema()
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _sink(totals: Totals) -> Spread:
    long = totals.spread["sink"]
    return long if long.count.any() else totals.spread["short_sink"]


def _towards(totals: Totals) -> dict[str, Sums]:
    """The weight of all counted tokens on each type of key, summed; in the order of the groups' names, so that it
    doesn't depend on the order that groups were met in."""
    found: dict[str, Sums] = {}
    for key in sorted(totals.groups):
        for kind, sums in totals.groups[key].to.items():
            found[kind] = found[kind] + sums if kind in found else sums
    return found


def _of_type(towards: dict[str, Sums], kind: str) -> Sums | float:
    """The weight on a type of ours, a user's labels of it included."""
    return sum((sums for name, sums in sorted(towards.items()) if name.partition("/")[0] == kind), 0.0)


def _received(totals: Totals) -> NDArray[np.float64]:
    """What a token of each type receives, as a mean per token, (L, H, types); NaN where there are no such tokens."""
    found = []
    for kind in totals.types:
        own = [group for (name, _), group in sorted(totals.groups.items()) if name == kind]
        count = sum(group.count for group in own)
        total = sum((group.received for group in own), np.zeros(totals.shape))
        found.append(total / count if count else np.full(totals.shape, np.nan))
    return np.stack(found, -1)


def _lists(numbers: NDArray[np.float64]) -> pa.Array:
    """A column of lists, one for each head or row: (..., length)."""
    import pyarrow as pa

    width = numbers.shape[-1]
    rows = numbers.size // width if width else 0
    ends = pa.array((np.arange(rows + 1) * width).astype(np.int32))
    return pa.ListArray.from_arrays(ends, pa.array(np.ascontiguousarray(numbers).ravel()))
