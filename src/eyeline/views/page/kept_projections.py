"""The projections that a file of a page holds: those of the head it opens on, and of each head that was named, when
its trace was recorded or now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eyeline.traces import TraceError
from eyeline.traces.keep import check_list, kept_heads
from eyeline.traces.positions import index_below
from eyeline.views.page.requests import projections
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.views.page.message import PageMessages


def kept_projections(page: PageMessages, keep: Sequence[str]) -> list[dict[str, Any]]:
    """The requests whose replies the file holds.

    Args:
        page: the page.
        keep: names of heads, such as "L0H3", of all its traces.

    Raises:
        TraceError: if a name isn't one of a head, or no trace of the page has its projections.
    """
    check_list(keep)
    named: list[tuple[int, int, int]] = []
    for number, trace in enumerate(page.traces):
        named += [(number, *place) for place in kept_heads(keep, trace.model.layers, trace.model.heads)]
    if keep and len(projections.requests(page.traces, named)) < len(set(keep)):
        raise TraceError(
            worded(
                'keep must name heads whose projections were recorded, got {names}; record them with keep=["input"]',
                names=", ".join(keep),
            )
        )
    recorded = [
        (number, *place)
        for number, trace in enumerate(page.traces)
        for place in (() if trace.inputs is None else trace.inputs.stored)
    ]
    return projections.requests(page.traces, [*_opening(page), *recorded, *named])


def _opening(page: PageMessages) -> list[tuple[int, int, int]]:
    """The trace, layer and head that the page opens on; none if its state names no single head that is there."""
    at = index_below(page.state.get("trace"), len(page.traces))
    if at is None:
        return []
    sizes = page.traces[at].model
    layer, head = index_below(page.state.get("layer"), sizes.layers), index_below(page.state.get("head"), sizes.heads)
    return [] if layer is None or head is None else [(at, layer, head)]


def entries(found: Sequence[dict[str, Any]], number: int) -> list[list[int]] | None:
    """The header's entry of a trace in the file: its heads, [layer, head] each; None for none."""
    return [[one["layer"], one["head"]] for one in found if one["trace"] == number] or None
