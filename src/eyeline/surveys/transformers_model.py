"""Models of transformers, as a survey reads them: padded batches of windows of similar length, through `watch`."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyeline.answers.behaviour.induction import induction_of
from eyeline.models import Tokens
from eyeline.models.packing import TOGETHER
from eyeline.readouts import Entropy, GroupMass, MeanDistance, OffsetMass, Readout, Received, TopK
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.looks import STRONGEST, Looks, Numbers, Places
from eyeline.surveys.scales import OFFSET_EDGES, SAME
from eyeline.surveys.windows import TextWindow
from eyeline.traces.transformers_model import TransformersModel
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.huggingface.watched_call import WatchedCall

#: The most tokens of a batch, padding included, unless a single window has more.
BATCH_TOKENS = 1 << 12
#: How many times as long as the shortest window of a batch the longest may be.
_SPREAD = 1.25
_PROBE = "Time flies like an arrow; fruit flies like a banana."


class TransformersSurveyModel:
    """An encoder or a decoder of transformers, as a `SurveyModel`.

    The model runs in evaluation mode, without gradients and on one of torch's threads, so that its bits don't depend on
    their number; after each block, all of that is as it was. It runs where it is, on the CPU or another device.

    Args:
        text_model: the model and its tokenizer.

    Attributes:
        info: as in `SurveyModel`; the sha256 is of all parameters' and buffers' names, types, shapes and bytes.
        layers, heads: counted in a pass over a short text, layers as `eyeline.heads` numbers them: ALBERT's one module,
            called twelve times, is twelve layers.
        causal: whether tokens look only at themselves and earlier ones.
        positions: the most tokens that it reads at once; None if it has no limit, or it isn't known.
        together: the most tokens that `looks` is given at once; it sorts their windows by length.
        longest: the longest window where none is given: many models have more positions than documents fill.

    Raises:
        SurveyError: if it is an encoder-decoder, or has several kinds of attention, layers with different numbers of
            heads, no attention that Eyeline reaches, or no weights.

    Warns:
        UserWarning: as `eyeline.watch`, if some of its attention modules run without calling Eyeline.
    """

    longest = 2048
    together = TOGETHER

    def __init__(self, text_model: TransformersModel) -> None:
        self._text_model, self._model = text_model, text_model.model
        _check_weights(text_model)
        self.layers, self.heads, self.causal, self._body = _probed(text_model)
        self.positions = text_model.positions
        self._padding = _padding_id(self._model)
        self.info: dict[str, Any] = {
            "name": text_model.name,
            "family": text_model.family,
            "layers": self.layers,
            "heads": self.heads,
            "causal": self.causal,
            "positions": self.positions,
            "vocabulary_size": text_model.vocabulary_size,
            "sha256": _digest(self._model),
            "source": str(getattr(self._model.config, "name_or_path", "") or ""),
        }

    def tokens(self, text: str) -> Tokens:
        """The whole text's tokens; see `SurveyModel`."""
        return self._text_model.tokens(text)

    def looks(self, windows: Sequence[TextWindow], types: NDArray[np.int64], count: int) -> Iterator[Looks]:
        """Run the model over some windows; see `SurveyModel`.

        Batches depend on the windows' lengths and order alone. They run layer by layer, so memory holds one layer's
        looks.
        """
        from eyeline.huggingface.paused_pass import layers_of

        lengths = np.array([len(window.ids) for window in windows])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        # Powers of two before 0 and, if tokens look there, after it, as far as the longest window reaches.
        reach = int(lengths.max() - 1).bit_length()
        first_range, last_range = SAME - reach, SAME + (0 if self.causal else reach)
        edges = OFFSET_EDGES[first_range : last_range + 2]
        batches, given = batches_of(lengths), []
        for batch in batches:
            rows = [slice(starts[number], starts[number + 1]) for number in batch]
            groups = _padded([types[place] for place in rows], -1)
            read: list[Readout] = [Entropy(), MeanDistance(), Received(), TopK(STRONGEST)]
            read += [GroupMass(groups, count), OffsetMass(edges.tolist())]
            given.append((self._inputs([windows[number].ids for number in batch]), read))
        for calls in layers_of(self._body, given):
            yield _looks(calls, batches, starts, first_range)

    def induction(self) -> tuple[int, NDArray[np.float64]] | None:
        """The test of induction, on one thread too; see `SurveyModel`."""
        from eyeline.huggingface.paused_pass import for_measuring

        with for_measuring(self._model):
            found = induction_of(self._text_model, self._text_model.read(_PROBE))
        return None if found is None else (found.length, found.scores)

    def _inputs(self, ids: Sequence[NDArray[np.int64]]) -> dict[str, Any]:
        """The model's inputs for a batch, padded on the right, where it changes no position."""
        from eyeline.huggingface.model_inputs import as_tensors

        real = _padded([np.ones(len(one), np.int64) for one in ids], 0)
        inputs = {"input_ids": _padded(ids, self._padding), "attention_mask": real}
        # A cache of keys and values would serve nobody.
        cached = "use_cache" in inspect.signature(self._body.forward).parameters
        return as_tensors(self._body, inputs | ({"use_cache": False} if cached else {}))


def batches_of(lengths: NDArray[np.int64]) -> list[list[int]]:
    """Windows of these lengths in batches of similar length: the numbers of each batch's windows, shortest first.

    >>> batches_of(np.array([9, 100, 8, 101]))
    [[2, 0], [1, 3]]
    """
    batches: list[list[int]] = []
    shortest = 0
    for number in np.argsort(lengths, kind="stable").tolist():
        length = int(lengths[number])
        full = bool(batches) and (len(batches[-1]) + 1) * length > BATCH_TOKENS
        if not batches or full or length > _SPREAD * shortest:
            batches.append([])
            shortest = length
        batches[-1].append(number)
    return batches


def _looks(
    calls: Sequence[WatchedCall], batches: Sequence[Sequence[int]], starts: NDArray[np.int64], first_range: int
) -> Looks:
    """One layer's looks, of the windows end to end and without padding."""
    N = int(starts[-1])
    found = []
    for call in calls:
        seen = call.seen
        top = seen[TopK]
        sums = seen[Entropy], seen[MeanDistance], seen[Received], seen[GroupMass], seen[OffsetMass]
        found.append((*sums, top.weights, top.keys))
    whole: list[NDArray[Any]] = [
        np.empty((part.shape[1], N, *part.shape[3:]), np.int64 if part.dtype.kind == "i" else np.float32)
        for part in found[0]
    ]
    for parts, batch in zip(found, batches, strict=True):
        for row, number in enumerate(batch):
            first, last = int(starts[number]), int(starts[number + 1])
            for array, part in zip(whole, parts, strict=True):
                array[:, first:last] = part[row, :, : last - first]
    entropy, distance, received, to, offsets, weights, keys = whole

    def strongest(heads: Places, tokens: Places) -> tuple[Places, Numbers]:
        return keys[heads, tokens], weights[heads, tokens]

    return Looks(entropy, distance, received, weights[..., 0], keys[..., 0], to, offsets, first_range, strongest)


def _padded(rows: Sequence[NDArray[np.int64]], value: int) -> NDArray[np.int64]:
    """Rows of different lengths as one array, filled up at the end."""
    padded = np.full((len(rows), max(map(len, rows))), value, np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _check_weights(text_model: TransformersModel) -> None:
    """
    Raises:
        SurveyError: if the model is an encoder-decoder or not one of text, or on the meta device.
    """
    model = text_model.model
    if text_model.kind is not None:
        raise SurveyError(
            worded(
                "model must be an encoder or a decoder for a survey, got {name}, which is both; take minilm or smollm2",
                name=text_model.name,
            )
        )
    if model.main_input_name != "input_ids":
        raise SurveyError(worded("model must read text for a survey, got {name}, which doesn't", name=text_model.name))
    if any(weights.is_meta for weights in model.parameters()):
        raise SurveyError(
            worded(
                "model must hold its weights, got {name} without them; load it with from_pretrained",
                name=text_model.name,
            )
        )


def _probed(text_model: TransformersModel) -> tuple[int, int, bool, Any]:
    """The numbers of layers and heads and whether tokens look back only, as they are in a pass over a short text; and
    the model to run: without its head where that has no attention, since logits of a batch take gigabytes."""
    from eyeline.huggingface.errors import HuggingFaceError
    from eyeline.huggingface.model_inputs import as_tensors
    from eyeline.huggingface.paused_pass import layers_of

    model = text_model.model
    inputs = {name: values for name, values in text_model.read(_PROBE).inputs.items() if name != "token_type_ids"}
    try:
        calls = _watched(model, as_tensors(model, inputs))
    except HuggingFaceError as error:
        raise SurveyError(str(error)) from None
    kinds = {call.kind for call in calls}
    if len(kinds) != 1:
        raise SurveyError(
            worded("model must have attention of one kind for a survey, got {kinds}", kinds=", ".join(sorted(kinds)))
        )
    heads = sorted({len(call.heads) for call in calls})
    if len(heads) != 1:
        raise SurveyError(
            worded(
                "model must have as many heads in each layer for a survey, got {heads}",
                heads=f" {worded('and')} ".join(map(str, heads)),
            )
        )
    body = model.base_model
    if body is not model:
        inner = sum(1 for _ in layers_of(body, [(as_tensors(body, inputs), ())])) if _is_model(body) else 0
        body = body if inner == len(calls) else model
    return len(calls), heads[0], kinds == {"decoder self"}, body


def _watched(model: Any, inputs: dict[str, Any]) -> Sequence[WatchedCall]:
    """Every attention call of a pass."""
    import torch

    from eyeline.huggingface.paused_pass import for_measuring
    from eyeline.huggingface.watching import watch

    with for_measuring(model), torch.no_grad(), watch(model) as seen:
        model(**inputs)
    return seen.calls


def _is_model(module: Any) -> bool:
    from transformers import PreTrainedModel

    return isinstance(module, PreTrainedModel)


def _padding_id(model: Any) -> int:
    """Any token that the model has a vector for: padding is masked."""
    given = getattr(model.config.get_text_config(), "pad_token_id", None)
    return given if isinstance(given, int) and given >= 0 else 0


def _digest(model: Any) -> str:
    """The sha256 of a model's parameters and buffers, each with its name, type and shape."""
    import torch

    digest = hashlib.sha256()
    for name, values in sorted(model.state_dict().items()):
        if not isinstance(values, torch.Tensor):
            continue
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode())
        flat = values.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()
