"""The parts of a live page: its opening traces, recorded with the weights that it holds, and these weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from eyeline.models import Model, load
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.rounding import rounded
from eyeline.traces import record
from eyeline.views.labels import printable
from eyeline.views.live.stored_models import PIECE, StoredModel, check_runs, stored_model
from eyeline.views.page.compression import deflated
from eyeline.views.page.file import data_blocks, first_blocks, page_parts, still_of
from eyeline.views.page.joining import bare, joined, style
from eyeline.views.page.lesson_page import DATE, lesson
from eyeline.views.page.markup import as_json, block, document
from eyeline.views.page.page import Page
from eyeline.words import worded

_HOST, _WORKER = "hosts/live.js", "live/worker.js"
#: The model of the lesson's stops on encoders and decoders.
_DATES = "dates"


@dataclass(frozen=True)
class LivePage:
    """A live page before it is written.

    Attributes:
        page: the page of its opening traces.
        models: its models, the one that texts are run with first.
        tokenizers: for each, what the page's tokenizer reads.
    """

    page: Page
    models: tuple[StoredModel, ...]
    tokenizers: tuple[Mapping[str, Any], ...]

    @property
    def order(self) -> list[int]:
        """The order in which the models' weights follow one another: the smallest first, which can run before the
        others are there."""
        return sorted(range(len(self.models)), key=lambda number: self.models[number].entry["size"])

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """The pieces of all weights with the names of their blocks, in order."""
        for number in self.order:
            for place, piece in enumerate(self.models[number].pieces):
                yield f"weights-{number}-{place}", piece

    def document(self, *, source: Mapping[str, Any] | None = None) -> bytes:
        """The bytes of its HTML file.

        Args:
            source: the `file` that has the pieces of the weights and its `size`, if they aren't in the page itself.
        """
        header, contents, data = page_parts(self.page)
        # The worker's are exact, and these rounded for a small file.
        data = {name: reply for name, reply in data.items() if not name.startswith("projections-")}
        for entry in header["traces"]:
            entry["projections"] = "all"
        names = [model.entry["name"] for model in self.models]
        header["can"] |= {"run": True, "live": True, "picture": True, "models": names, "edit": names}
        entries = [model.entry for model in self.models]
        contents["live"] = {
            "source": source,
            "models": entries,
            "order": self.order,
            "piece": PIECE,
            "stored": sorted(data),
        }
        module = _module()
        first = first_blocks(header, contents, module, style(host=_HOST))
        further = [
            *(block(f"tokenizer-{number}", deflated(as_json(one))) for number, one in enumerate(self.tokenizers)),
            *([] if source else [block(name, piece) for name, piece in self.pieces()]),
        ]
        blocks = [_licences(self.models), *data_blocks(self.page, data), *further]
        title = printable(self.page.title)
        return document(title, header["version"], still_of(self.page), module, first, blocks, fetches=bool(source))


def live_page(
    model: str | os.PathLike[str] | Model = "minilm",
    weights: str | None = None,
    *,
    state: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> LivePage:
    """Make a live page: the lesson, with the model that reads its sentences and the one that rewrites dates; of an
    encoder-decoder, such as dates, a date that it rewrites.

    Args:
        model: an encoder or an encoder-decoder: a name from the catalogue, a folder, or a loaded model.
        weights: "int8" or "float16"; by default int8, and for an encoder-decoder float16.
        state: what of the page's initial state isn't the usual.
        progress: called with a line of text at each step.

    Raises:
        ModelError: if the page can't run the model, or its files are missing or damaged; a ValueError.
    """
    original = model if isinstance(model, Model) else load(model, progress=progress)
    check_runs(original)
    tokenizer = _tokenizer(original)  # it may be refused, which is better said before the work
    generates = isinstance(original.network, EncoderDecoder)
    if progress is not None and not generates:  # an encoder-decoder's are of 16 bits in its file
        progress(worded("{name}: rounding its weights", name=original.name))
    kept = rounded(original, weights or ("float16" if generates else "int8"))
    pairs = [(kept, original)]
    if generates:
        parts: Any = record(DATE, model=kept, progress=progress)  # one of each part
        page = Page(parts)
    else:
        page = lesson(model=kept, progress=progress)
        dates = load(_DATES, progress=progress)
        pairs.append((rounded(dates, "float16"), dates))
    page.state |= state or {}
    return LivePage(
        page,
        tuple(stored_model(one, before) for one, before in pairs),
        ({**tokenizer, "name": kept.name}, *(_tokenizer(one) for one, _ in pairs[1:])),
    )


@cache
def _module() -> str:
    return bare(joined(_HOST, worker=_WORKER))


def _tokenizer(model: Model) -> Mapping[str, Any]:
    from eyeline.models.tokenizer_data import tokenizer_data

    return tokenizer_data(model)


def _licences(models: Sequence[StoredModel]) -> str:
    """What the weights are, and under which licence, for whoever reads the file's text."""
    lines = []
    for model in models:
        source = model.entry["source"]
        known = f"{source['summary']}; licence {source['license']}" if source["license"] else "licence not known here"
        lines.append(f"{model.entry['name']}: {known}; from weights whose SHA-256 is {source['sha256']}")
    return f'<script type="text/plain" id="eyeline-licences">\n{escape(chr(10).join(lines))}\n</script>'
