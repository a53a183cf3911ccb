"""Write the page as one file: its style, modules and numbers as blocks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.caches import whole
from eyeline.traces import LayerTrace, Trace, TraceError
from eyeline.traces.measures import PICTURE
from eyeline.views.labels import printable
from eyeline.views.page.compression import deflated, deflated_numbers, planes
from eyeline.views.page.contexts import stored_nearest, stored_products
from eyeline.views.page.edited_layers import as_sent, factors
from eyeline.views.page.framing import framed
from eyeline.views.page.joining import bare, joined, style, without_texts
from eyeline.views.page.kept_projections import entries, kept_projections
from eyeline.views.page.markup import as_json, block, document
from eyeline.views.page.pyramid import Pyramid, of_halves, pyramid, side_of
from eyeline.views.page.requests import effects, image
from eyeline.views.page.requests.positions import stored_positions
from eyeline.views.page.still import still, still_html, why_still
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.views.page.message import PageMessages

#: The bytes of the blocks of a sentence's file, with the matrices of one head: positions don't take it beyond.
ROOM = 696_000
#: By default values are included if queries, keys and values of all traces take at most this number of bytes.
VALUES = 4 << 20
_LARGEST = float(np.finfo(np.float16).max)


def save(
    page: PageMessages, path: str | os.PathLike[str], *, half: bool, values: bool | None, keep: Sequence[str]
) -> None:
    """Write the file; see `Page.save`."""
    data = page_file(page, half=half, values=values, keep=keep)
    with whole(Path(path)) as beside:
        beside.write_bytes(data)


def page_file(page: PageMessages, *, half: bool = False, values: bool | None = None, keep: Sequence[str] = ()) -> bytes:
    """The bytes of the file, as docs/page-format.md describes it.

    Raises:
        TraceError: as `page_parts`.
    """
    header, contents, data = page_parts(page, half=half, values=values, keep=keep)
    module = _module(page.lesson is not None, bool(page.effects))
    styles = style(host="hosts/effects_file.js" if page.effects else None)
    first, drawn = first_blocks(header, contents, module, styles), still_of(page)
    for request in stored_positions(page.traces):
        reply = deflated(framed(*page.answer({"id": 0, **request})))
        without = len(drawn) + sum(map(len, first)) + 4 / 3 * sum(map(len, data.values()))
        if not without < ROOM <= without + 4 / 3 * len(reply):
            data[stored_name(request)] = reply
    return document(printable(page.title), header["version"], drawn, module, first, data_blocks(page, data))


def page_parts(
    page: PageMessages, *, half: bool = False, values: bool | None = None, keep: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes]]:
    """A page's header, the file's contents, and its blocks of numbers by name.

    Raises:
        TraceError: if there are no traces, requested values weren't kept, numbers are too large for float16, or `keep`
            names heads whose projections weren't recorded.
    """
    if not page.traces:
        raise TraceError(worded("traces must be at least one for a file, got none; record a text first"))
    size = 2 if half else 4
    if values is None:
        values = sum(_bytes_of(trace, size) for trace in page.traces) <= VALUES
    elif values and not all(trace.has_values for trace in page.traces):
        raise TraceError(worded("values must be False where none were kept, got True; record them with values=True"))
    header = page.header()
    header["can"] |= {"picture": False, "edit": []}
    contents: dict[str, Any] = {"dtype": "float16" if half else "float32", "traces": []}
    data: dict[str, bytes] = {}
    projected = kept_projections(page, keep)
    for number, trace in enumerate(page.traces):
        kept = values and trace.has_values
        header["traces"][number] |= {"values": kept, "projections": entries(projected, number)}
        if _drawn_by_page(trace):
            header["traces"][number]["picture"] = None
        if (side := side_of(trace)) is not None:
            header["traces"][number]["pyramid"] = side
        contents["traces"].append(_add(data, number, trace, half, kept))
    for request in [
        *page.stored,
        *image.stored(page.traces),
        *projected,
        *stored_products(page.traces),
        *_effects(page),
    ]:
        data[stored_name(request)] = deflated(framed(*page.answer({"id": 0, **request})))
    for request, words in stored_nearest(page.traces):
        data[stored_name(request)] = deflated(framed({"id": 0, "kind": request["kind"], **words}, []))
    return header, contents, data


def first_blocks(header: Mapping[str, Any], contents: Mapping[str, Any], module: str, styles: str) -> list[str]:
    """The blocks that are read first: header, style, module."""
    return [
        block("header", deflated(as_json([header, contents]))),
        block("style", deflated(styles.encode())),
        block("module", deflated(module.encode())),
    ]


def data_blocks(page: PageMessages, data: Mapping[str, bytes]) -> list[str]:
    """The blocks of numbers. What is shown first comes first, so that it is available while the browser reads the
    rest."""
    shown = f"{page.state.get('trace')}-{page.state.get('layer')}"
    places = {name: place for place, name in enumerate((f"pyramid-{shown}", f"layer-{shown}"))}
    order = sorted(data, key=lambda name: (places.get(name, len(places)), name.startswith("layer-")))
    return [block(name, data[name]) for name in order]


def still_of(page: PageMessages) -> str:
    """The markup of a page's still picture; empty if it has none."""
    picture = still(page)
    return "" if picture is None else still_html(picture, why_still())


def stored_name(request: Mapping[str, Any]) -> str:
    """The name of the block that holds the reply to a request.

    >>> stored_name({"kind": "projections", "trace": 0, "layer": 5, "head": 2})
    'projections-0-5-2'
    """
    named = (request.get(key) for key in ("kind", "trace", "other", "layer", "head", "token", "last"))
    return "-".join(str(part) for part in named if part is not None)


@cache
def _module(lesson: bool, effects: bool) -> str:
    """The page's modules, bundled with the module of this host; with the texts of the lesson if the page has one, and
    with what shows effects if it holds any."""
    module = joined("hosts/effects_file.js" if effects else "hosts/text_file.js")
    for prefix in (
        "editing",
        "typing.",
        "sources.",
        "keys.overview.off",
        *(() if lesson else ("lesson.",)),
        *(() if effects else ("matters.",)),
    ):
        module = without_texts(module, prefix)
    return bare(module)


def _add(data: dict[str, bytes], number: int, trace: Trace, half: bool, values: bool) -> dict[str, Any]:
    """Add the blocks of a trace; returns its entry in the contents."""
    masks: dict[int, int] = {}
    places: list[int | None] = []
    side = side_of(trace)
    for place, run in enumerate(trace.layers):
        layer = _held(as_sent(run), half, values)
        if side is not None:
            data[f"pyramid-{number}-{place}"] = _pyramid(pyramid(layer, side))
        data[f"layer-{number}-{place}"] = _layer(layer, half, values)
        for head in range(trace.model.heads):
            if (factor := factors(run, head)) is not None:
                data[f"factors-{number}-{place}-{head}"] = deflated(_little(factor).tobytes())
        array = layer.allowed.array
        if array is not None and id(array) not in masks:
            masks[id(array)] = len(masks)
            data[f"mask-{number}-{len(masks) - 1}"] = deflated(_little(array).tobytes())
        places.append(None if array is None else masks[id(array)])
    measures = trace.measures
    if not _drawn_by_page(trace):
        data[f"overview-{number}"] = deflated(measures.pictures.tobytes() + _little(measures.most).tobytes())
    shapes = {
        masks[id(a)]: list(a.shape) for a in (as_sent(layer).allowed.array for layer in trace.layers) if a is not None
    }
    return {"masks": places, "mask_shapes": [shapes[place] for place in range(len(shapes))]}


def _effects(page: PageMessages) -> list[dict[str, Any]]:
    """The requests for the effects of the page's traces."""
    return [effects.stored(one, page.traces.index(one.trace)) for one in page.effects]


def _drawn_by_page(trace: Trace) -> bool:
    """Whether each cell of the thumbnails is one weight, so that the page can make them itself."""
    return max(len(trace.queries), len(trace.across)) <= PICTURE


def _held(layer: LayerTrace, half: bool, values: bool) -> LayerTrace:
    """The layer with the numbers that the file holds; in float16 its lse is that of the rounded queries and keys, so
    that rows of weights still sum to 1."""
    if not half:
        return layer
    for name, array in zip("qkv", _arrays(layer, values), strict=False):
        if np.abs(array).max(initial=0) > _LARGEST:
            raise TraceError(
                worded(
                    "half must be left out where {name} goes beyond {largest:g}, the largest number of float16, "
                    "got {max:g}",
                    name=name,
                    largest=_LARGEST,
                    max=np.abs(array).max(),
                )
            )
    return of_halves(layer)


def _arrays(layer: LayerTrace, values: bool) -> list[NDArray[np.float32]]:
    """q, k, and v if included."""
    return [layer.q, layer.k, *([layer.v] if values and layer.v is not None else [])]


def _layer(layer: LayerTrace, half: bool, values: bool) -> bytes:
    """The block of a layer: q, k, v if included, and lse."""
    arrays = _arrays(layer, values)
    if not half:
        return deflated_numbers(planes([*arrays, layer.lse], "<f4"))
    return deflated_numbers(planes(arrays, "<f2") + planes([layer.lse], "<f4"))


def _pyramid(found: Pyramid) -> bytes:
    """The block of a layer's means: the largest of each head, and the planes of the codes."""
    return deflated_numbers(_little(found.most).tobytes() + planes([found.codes], "<u2"))


def _bytes_of(trace: Trace, size: int) -> int:
    """The bytes of q, k and v of a trace."""
    arrays = (array for layer in trace.layers for array in (layer.q, layer.k, layer.v) if array is not None)
    return size * sum(array.size for array in arrays)


def _little(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)
