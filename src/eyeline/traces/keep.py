"""The options of a recording: what it keeps beside each layer's queries, keys, lse and mask."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eyeline.readouts import Readout
from eyeline.traces.errors import TraceError
from eyeline.words import worded

_HEAD = re.compile(r"L([0-9]{1,4})H([0-9]{1,4})")

#: The most tokens of a text whose vectors are all kept for a page, (L + 1) · tokens · width numbers of 4 bytes: 1.4 MB
#: in MiniLM, 9 MB in SmolLM2.
SHORT = 128


@dataclass(frozen=True)
class Keep:
    """The contents of a recording.

    Attributes:
        values: whether to keep each layer's values, which are needed to show a token's new vector.
        vectors: the positions of the tokens whose vectors to keep, before the first layer and after each; "all" for
            every token.
        read: the readouts of each layer's weights to compute while the model runs; see `Trace.seen`.
        measures: whether to compute `Trace.measures` while the model runs; otherwise they are computed at their first
            use.
        changed_scores: whether to accept scores that are more than scaled products (a cap, a bias, sinks). The weights
            of such a trace are exact, but neither a file nor the page can hold it.
        input: whether to keep what goes into each layer's projections and what attention adds, for `Trace.projections`.
        heads: the heads, (layer, head), whose matrices the trace's file is to have.
    """

    values: bool = True
    vectors: Sequence[int] | Literal["all"] | None = None
    read: tuple[Readout, ...] = ()
    measures: bool = False
    changed_scores: bool = False
    input: bool = False
    heads: tuple[tuple[int, int], ...] = ()

    def positions(self, count: int) -> list[int] | None:
        """The positions of the tokens whose vectors to keep, of `count` tokens; None for no vectors."""
        if self.vectors is None:
            return None
        return list(range(count)) if self.vectors == "all" else [int(place) for place in self.vectors]


def short(tokens: int, otherwise: Sequence[int] | None = None) -> Sequence[int] | Literal["all"] | None:
    """The value of `Keep.vectors` for a text of this many tokens: "all" if it is short, else `otherwise`."""
    return "all" if tokens <= SHORT else otherwise


def kept_heads(names: Sequence[str], layers: int, heads: int) -> tuple[tuple[int, int], ...]:
    """The heads that are named, (layer, head) each, once and in order.

    Args:
        names: such as "L0H3".
        layers, heads: how many the model has.

    Raises:
        TraceError: if they aren't a list, or a name isn't one of a head of the model.

    >>> kept_heads(["L5H2", "L0H3", "L5H2"], 6, 12)
    ((0, 3), (5, 2))
    """
    check_list(names)
    found = set()
    for name in names:
        match = _HEAD.fullmatch(name) if isinstance(name, str) else None
        if match is None or int(match[1]) >= layers or int(match[2]) >= heads:
            raise TraceError(
                worded(
                    "keep must name heads from L0H0 to L{layer}H{head}, got {name}",
                    layer=layers - 1,
                    head=heads - 1,
                    name=f"{name!r:.40}",
                )
            )
        found.add((int(match[1]), int(match[2])))
    return tuple(sorted(found))


def keep_of(names: Sequence[str], keep: Keep, layers: int = 10_000, heads: int = 10_000) -> Keep:
    """`keep`, with what `record(keep=…)` names: "input", "vectors", or heads such as "L0H3", which imply "input"."""
    check_list(names)
    named = kept_heads([name for name in names if name not in ("input", "vectors")], layers, heads)
    vectors = "all" if "vectors" in names else keep.vectors
    return replace(keep, vectors=vectors, input=keep.input or "input" in names or bool(named), heads=named)


def check_list(names: object) -> None:
    """Check that `keep` is a list of names, and no string."""
    if isinstance(names, str) or not isinstance(names, Collection):
        raise TraceError(
            worded(
                'keep must be a list of names, got {names}; write keep=["input"] or keep=["L0H3"]',
                names=f"{names!r:.40}",
            )
        )
