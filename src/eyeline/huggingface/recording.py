"""Record one pass of a model: the queries, keys and values of every attention call, and more on request."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eyeline.edits import CallEdits
from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.call_observer import CallObserver
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.implementations import looks_like_attention
from eyeline.huggingface.projections import Projected, ProjectionHooks
from eyeline.huggingface.watched_call import Kind
from eyeline.huggingface.watching import followed
from eyeline.masks import Mask
from eyeline.words import worded

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RecordedCall:
    """One call of one attention module, for one text.

    Attributes:
        module: its path in the model.
        kind: "encoder self", "decoder self" or "cross".
        layer: its number among the calls of its kind, from 0.
        q, k, v: float32, (H, N, D), (G, M, D) and (G, M, E).
        lse: (H, N), the natural log of each row's softmax denominator, sinks included; -inf where a query may look at
            nothing.
        mask: where queries may look; everywhere if None.
        scale: the factor of the scores.
        softcap: the cap on the scaled scores, if there is one (Gemma 2).
        bias: float32, (1 or H, N, M), added to the capped scores, if there is one (T5).
        sinks: float32, (H,), the logits of attention sinks, if there are any (GPT-OSS).
        state_before, state_after: (N, width), the hidden states before and after the layer that contains the module;
            None unless they were requested. A layer's self- and cross-attention have the same.
        projected: what went through the projections around it, if that was requested and they are known.
        edits: what was changed in it, if anything was; q, k, v and mask are as they were before that, lse is the rows'
            own after it.
    """

    module: str
    kind: Kind
    layer: int
    q: Array
    k: Array
    v: Array
    lse: Array
    mask: Mask | None
    scale: float
    softcap: float | None = None
    bias: Array | None = None
    sinks: Array | None = None
    state_before: Array | None = None
    state_after: Array | None = None
    projected: Projected | None = None
    edits: CallEdits | None = None


@dataclass(frozen=True, eq=False)
class Recording:
    """One pass of a model over one text.

    Attributes:
        calls: every attention call, in order.
        logits: (N, vocabulary), the model's logits for each token; None unless requested, or where it has none.
    """

    calls: tuple[RecordedCall, ...]
    logits: Array | None = None

    def hidden_states(self, kind: Kind) -> tuple[Array, ...]:
        """The hidden states before the first layer and after each, layers + 1 arrays of (N, width).

        The last array is the output of the last layer, before the model's final norm.

        Args:
            kind: "encoder self" or "decoder self".

        Raises:
            ValueError: if hidden states weren't recorded, or there is no such layer.
        """
        states = [(call.state_before, call.state_after) for call in self.calls if call.kind == kind]
        before = [first for first, _ in states[:1] if first is not None]
        after = [last for _, last in states if last is not None]
        if not before or len(after) < len(states):
            raise ValueError(
                worded("kind must be of layers whose hidden states were recorded, got {kind!r}", kind=kind)
            )
        return (*before, *after)


class CallRecorder(CallObserver):
    """An observer that keeps the inputs of every attention call."""

    def __init__(self, model: nn.Module, before: Callable[[str], None], changed_scores: bool) -> None:
        super().__init__(model, (), None, None)
        self.calls: list[RecordedCall] = []
        self._before, self._changed_scores = before, changed_scores
        self._biases: dict[tuple[int, ...], tuple[Sequence[Tensor], Array | None]] = {}
        self._entered: list[tuple[int, Any]] = []

    def observe(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the output of a call, and keep its inputs."""
        self._before(self._places.paths[id(module)])
        output = super().observe(module, call)
        kept = self.watched.calls[-1]
        if not self._changed_scores:
            _check_scores(call, kept.module)
        if len(call.q) != 1:
            raise HuggingFaceError(
                worded(
                    "text must be one at a time, got {count} of them in {module}", count=len(call.q), module=kept.module
                )
            )
        q, k, v = (_array(x) for x in (call.q, call.k, call.v))
        scale = 1 / math.sqrt(q.shape[2]) if call.scale is None else float(call.scale)
        lse = np.asarray(kept.seen.lse[0], np.float32)
        sinks = None if call.sinks is None else call.sinks.detach().float().cpu().numpy()
        made = RecordedCall(
            kept.module, kept.kind, kept.layer, q, k, v, lse, kept.mask, scale, edits=_detached(call.edits)
        )
        self.calls.append(replace(made, softcap=call.softcap, bias=self._bias(call.biases), sinks=sinks))
        return output

    def keep_states(self, undo: ExitStack) -> None:
        """Keep the hidden states before and after each layer, until `undo` is closed."""
        for layer in _layers(self._model):
            undo.callback(layer.register_forward_pre_hook(self._enter_layer, with_kwargs=True).remove)
            undo.callback(layer.register_forward_hook(self._leave_layer).remove)

    def _enter_layer(self, layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = args[0] if args else kwargs.get("hidden_states")
        self._entered.append((len(self.calls), given))

    def _leave_layer(self, layer: nn.Module, args: Any, output: Any) -> None:
        first, given = self._entered.pop()
        left = output[0] if isinstance(output, tuple) else output
        before, after = (_array(x) if isinstance(x, Tensor) and x.ndim == 3 else None for x in (given, left))
        for place in range(first, len(self.calls)):
            self.calls[place] = replace(self.calls[place], state_before=before, state_after=after)

    def _bias(self, biases: Sequence[Tensor]) -> Array | None:
        """The sum of biases, (1 or H, N, M); None if it is 0. A bias that layers share (T5) is kept once."""
        key = tuple(map(id, biases))
        if key not in self._biases:
            bias = sum(map(_array, biases), np.zeros((1, 1, 1), np.float32))
            self._biases[key] = biases, bias if bias.any() else None
        return self._biases[key][1]


def record_pass(
    model: nn.Module,
    inputs: Mapping[str, Any],
    before: Callable[[str], None],
    *,
    changed_scores: bool = False,
    hidden_states: bool = False,
    projections: bool = False,
    logits: bool = False,
) -> Recording:
    """Run a model once, and keep the inputs of each attention call, in order.

    Args:
        model: a model of transformers, in evaluation mode.
        inputs: its arguments, for one text.
        before: called with the path of each attention module before it runs.
        changed_scores: whether to accept models whose scores are more than q·k, scaled and masked: `softcap`, `bias`
            and `sinks` hold the rest.
        hidden_states: whether to keep the hidden states before and after each layer.
        projections: whether to keep what goes through the projections around attention.
        logits: whether to keep the model's logits.

    Raises:
        HuggingFaceError: if the model can't be watched (see `attach`), or is in training mode; without
            `changed_scores`, if its scores are more than q·k, scaled and masked (the message names the module).
    """
    if model.training:
        raise HuggingFaceError(
            worded("model must be in evaluation mode, where nothing is dropped; call model.eval() first")
        )
    if any(weights.is_meta for weights in model.parameters()):
        raise HuggingFaceError(
            worded("model must hold its weights, got one on the meta device; load it with from_pretrained")
        )
    recorder = CallRecorder(model, before, changed_scores)
    with followed(model, recorder), torch.no_grad(), ExitStack() as undo:
        if hidden_states:
            recorder.keep_states(undo)
        hooks = ProjectionHooks(model, undo) if projections else None
        output = model(**inputs)
    recorder.finish()
    calls = recorder.calls if hooks is None else _with_projections(recorder.calls, hooks)
    found = getattr(output, "logits", None) if logits else None
    kept = _array(found) if isinstance(found, Tensor) and found.ndim == 3 else None
    return Recording(tuple(calls), kept)


def _with_projections(calls: Sequence[RecordedCall], hooks: ProjectionHooks) -> list[RecordedCall]:
    """The calls with what went through their projections; a module that layers share (ALBERT) has several calls."""
    times: Counter[str] = Counter()
    made = []
    for call in calls:
        made.append(replace(call, projected=hooks.of(call.module, times[call.module])))
        times[call.module] += 1
    return made


def _detached(edits: CallEdits | None) -> CallEdits | None:
    """The edits with arrays in place of tensors."""
    if edits is None:
        return None

    def detached(one: Any) -> Any:
        by = getattr(one, "by", None)
        return replace(one, by=by.detach().float().cpu().numpy()) if isinstance(by, Tensor) else one

    return replace(edits, weightings=tuple(map(detached, edits.weightings)), gates=tuple(map(detached, edits.gates)))


def _check_scores(call: AttentionCall, path: str) -> None:
    changes = {
        "biases": call.biases,
        "cap": call.softcap is not None,
        "sinks": call.sinks is not None,
    }
    for change, there in changes.items():
        if there:
            said = {
                "biases": worded("biases added to them"),
                "cap": worded("a cap"),
                "sinks": worded("sinks"),
            }
            raise HuggingFaceError(
                worded(
                    "scores must be q·k alone to be recorded, got {change} in {path}; read its weights with "
                    "eyeline.watch",
                    change=said[change],
                    path=path,
                )
            )


def _layers(model: nn.Module) -> list[nn.Module]:
    """The layers of a model: the outermost elements of module lists that contain attention."""
    if isinstance(model, nn.ModuleList):
        return [layer for layer in model if any(looks_like_attention(part) for part in layer.modules())]
    return [layer for child in model.children() for layer in _layers(child)]


def _array(x: Tensor) -> Array:
    """The only text of a batch, in float32."""
    return np.asarray(x[0].detach().float().cpu().numpy())
