"""The mean output of each head over the tokens of some texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import Kind, MeanOutputs
from eyeline.edits.runs import KINDS
from eyeline.masks import Mask
from eyeline.models import Model
from eyeline.models.cutting import cut
from eyeline.models.decoder import Decoder
from eyeline.models.embedding import IdsReader
from eyeline.models.encoder import Encoder
from eyeline.models.packing import packed
from eyeline.models.run import Layer
from eyeline.models.sites import sites
from eyeline.traces.errors import TraceError
from eyeline.traces.keep import Keep
from eyeline.traces.model_choice import text_model
from eyeline.traces.own_model import OwnModel
from eyeline.traces.parts import records_parts
from eyeline.traces.recording import record_text
from eyeline.traces.text_model import AnyModel, TextModel
from eyeline.traces.trace import Trace
from eyeline.words import worded


def mean_outputs(
    texts: Iterable[str],
    *,
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    progress: Callable[[str], None] | None = None,
    texts_done: Callable[[int], None] | None = None,
) -> MeanOutputs:
    """The mean output of each head, before W_o, over all tokens of some texts, special ones included.

    Args:
        texts: the texts, in any iterable but a string; blank ones are left out. A text with more tokens than the model
            has positions is cut there.
        model: a name from the catalogue, a folder, or a loaded model, also of transformers. Of an encoder-decoder, the
            decoder writes its own answer to each text.
        tokenizer: the tokenizer of a model of transformers.
        progress: called with a line of text at each step of fetching the model.
        texts_done: called with the number of finished texts.

    Returns:
        `MeanOutputs`, for `eyeline.edits.MeanOutput`: float32 means of float64 sums.

    Raises:
        TypeError: if texts isn't an iterable of texts.
        TraceError: if no text has a token; a ValueError.
        ModelError: if the model is unknown or its files are invalid; a ValueError.

    >>> means = mean_outputs(["time flies like an arrow", "fruit flies like a banana"])
    >>> means, means.outputs["encoder self"].shape
    (<MeanOutputs of minilm over 14 tokens>, (6, 12, 32))
    """
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise TypeError(
            worded("texts must be a list of texts, got {type}; write [text] for one", type=type(texts).__name__)
        )
    opened = hasattr(model, "go_on")
    runs_on = cast(TextModel, model) if opened else text_model(cast(AnyModel, model), tokenizer, progress=progress)
    asked: Iterable[str] = (text for text in map(_checked, texts) if text.strip())
    sums = _Sums()
    if isinstance(runs_on, OwnModel):
        running = _packed(runs_on.model, asked, sums)
    else:
        running = _one_by_one(runs_on, asked, sums)
    for done in running:
        if texts_done is not None:
            texts_done(done)
    return sums.means(runs_on.name)


class _Sums:
    """Sums of heads' outputs over tokens, by the kind of attention."""

    def __init__(self) -> None:
        self._sums: dict[Kind, dict[int, NDArray[np.float64]]] = {}
        self._counts: dict[Kind, int] = {}

    def add(self, kind: Kind, layer: int, outputs: NDArray[Any]) -> None:
        """Add the outputs of a layer's heads, (H, N, E)."""
        of_kind = self._sums.setdefault(kind, {})
        of_kind[layer] = of_kind.get(layer, 0) + outputs.sum(axis=1, dtype=np.float64)
        if layer == 0:
            self._counts[kind] = self._counts.get(kind, 0) + outputs.shape[1]

    def means(self, model: str) -> MeanOutputs:
        """The means.

        Raises:
            TraceError: if there were no tokens.
        """
        if not self._counts:
            raise TraceError(worded("texts must have at least one word among them, got none"))
        means = {
            kind: np.stack([of_kind[layer] for layer in range(len(of_kind))]) / self._counts[kind]
            for kind, of_kind in self._sums.items()
        }
        first = next(iter(self._counts.values()))
        return MeanOutputs(model, first, {kind: mean.astype(np.float32) for kind, mean in means.items()})


def _packed(model: Model, texts: Iterable[str], sums: _Sums) -> Iterator[int]:
    """Texts of one of Eyeline's models, packed into blocks; yields the number of finished texts."""
    (kind,) = sites(model.config).layers
    done = 0
    for block in packed(ids for ids in IdsReader(model, model.config.positions).ids(texts) if len(ids)):
        for number, layer in enumerate(_layers(model.network, block.ids, block.positions, block.mask)):
            sums.add(kind, number, layer.output[0])
        done += len(block.texts)
        yield done


def _layers(network: Any, ids: NDArray[np.int64], positions: NDArray[np.int64], mask: Mask) -> Iterator[Layer]:
    if isinstance(network, Decoder):
        return network.layers(network.embed(ids), mask, None, positions=positions)
    assert isinstance(network, Encoder)
    return network.layers(network.embed(ids, positions), mask, None)


def _one_by_one(model: TextModel, texts: Iterable[str], sums: _Sums) -> Iterator[int]:
    """Texts of any model, each by its trace; yields the number of finished texts."""
    for done, text in enumerate(texts, 1):
        for trace in _traces(model, text):
            kind = KINDS[trace.kind]
            for number, layer in enumerate(trace.layers):
                sums.add(kind, number, layer.output_of(range(trace.model.heads)))
        yield done


def _traces(model: TextModel, text: str) -> list[Trace]:
    keep = Keep(changed_scores=True)
    if records_parts(model):
        return model.record_parts(text, keep).traces
    read = model.read(text)
    room = model.positions
    if room is not None and len(read.tokens) > room:
        read = model.with_tokens(cut(read.tokens, room), read)
    return [record_text(model, read, keep=keep)]


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(worded("texts must be strings, got {type} among them", type=type(text).__name__))
    return text
