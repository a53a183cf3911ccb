"""One pass of a model, and the queries, keys and values of every attention call in it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from eyeline.huggingface.attaching import models_in
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.huggingface.request import Request
from eyeline.huggingface.watched import Kind
from eyeline.huggingface.watcher import Watcher
from eyeline.huggingface.watching import following
from eyeline.masks import Mask

#: The most tokens of an answer where the model's own settings don't say.
_ANSWER = 64


@dataclass(frozen=True)
class Call:
    """One call of one attention module, for one text.

    Attributes:
        module: its path in the model.
        kind: "encoder self", "decoder self" or "cross".
        q, k, v: float32, (H, N, D), (G, M, D) and (G, M, E).
        mask: where queries may look; everywhere if None.
        scale: what scores are multiplied by.
        softcap: the cap of the scaled scores, if there is one.
        bias: what is added to them then, (H or 1, N or 1, M), if anything is.
        sinks: the logits of attention sinks, (H,), if there are any.
    """

    module: str
    kind: Kind
    q: NDArray[np.float32]
    k: NDArray[np.float32]
    v: NDArray[np.float32]
    mask: Mask | None
    scale: float
    softcap: float | None = None
    bias: NDArray[np.float32] | None = None
    sinks: NDArray[np.float32] | None = None


class Recorder(Watcher):
    """A watcher that keeps what attention is computed from."""

    def __init__(self, model: nn.Module, before: Callable[[str], None], changed_scores: bool) -> None:
        super().__init__(model, type(models_in(model)[0]).__name__, (), None, None)
        self.calls: list[Call] = []
        self._before = before
        self._changed_scores = changed_scores

    def look(self, module: nn.Module, request: Request) -> Tensor:
        """The output of a call, of which what it is computed from is kept."""
        self._before(self._paths[id(module)])
        output = super().look(module, request)
        look = self.seen.looks[-1]
        changes = {
            "biases added to them": request.biases,
            "a cap": request.softcap is not None,
            "sinks": request.sinks is not None,
        }
        for change, there in changes.items():
            if there and not self._changed_scores:
                raise HuggingFaceError(
                    f"scores must be q·k alone to be recorded, got {change} in {look.module}; read its weights with "
                    f"eyeline.watch"
                )
        if len(request.q) != 1:
            raise HuggingFaceError(f"text must be one at a time, got {len(request.q)} of them in {look.module}")
        q, k, v = (x[0].detach().float().cpu().numpy() for x in (request.q, request.k, request.v))
        scale = 1 / math.sqrt(q.shape[2]) if request.scale is None else float(request.scale)
        biases = [bias.detach().float().cpu().numpy() for bias in request.biases]
        # Each is (1, 1 or H, 1 or N, M).
        bias = sum(biases[1:], biases[0])[0] if biases else None
        sinks = None if request.sinks is None else request.sinks.detach().float().cpu().numpy()
        self.calls.append(Call(look.module, look.kind, q, k, v, request.mask, scale, request.softcap, bias, sinks))
        return output


def calls(
    model: nn.Module,
    inputs: Mapping[str, Any],
    before: Callable[[str], None],
    *,
    changed_scores: bool = False,
    hidden_states: bool = False,
) -> tuple[list[Call], Any]:
    """Run a model once, and keep what each of its attention calls is computed from, in order.

    Args:
        model: a model of transformers, in evaluation mode.
        inputs: what it is called with, of one text.
        before: called with the path of each attention module before it runs.
        changed_scores: whether scores may be more than scaled products.
        hidden_states: whether the model's outputs hold each layer's hidden states.

    Returns:
        The calls, and the model's outputs.

    Raises:
        HuggingFaceError: if the model can't be watched (see `attach`), is in training mode, or changes its scores by
            more than a scale and a mask and that isn't asked for; it names the module.
    """
    if model.training:
        raise HuggingFaceError("model must be in evaluation mode, where nothing is dropped; call model.eval() first")
    recorder = Recorder(model, before, changed_scores)
    asked = {"output_hidden_states": True} if hidden_states else {}
    with following(model, recorder), torch.no_grad():
        outputs = model(**inputs, **asked)
    recorder.finish()
    return recorder.calls, outputs


def the_model(module: nn.Module) -> Any:
    """The one model of transformers that a module is or holds.

    Raises:
        TypeError: if it holds none, or several.
    """
    found = models_in(module)
    if len(found) > 1:
        names = ", ".join(type(one).__name__ for one in found)
        raise TypeError(f"model must be or hold one model of transformers, got {names}; record each by itself")
    return found[0]


def as_tensors(model: nn.Module, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What a tokenizer gives, as tensors of one text, where the model is; and of it what the model takes."""
    device = next(model.parameters()).device
    taken = inspect.signature(model.forward).parameters
    whole = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
    tensors = {}
    for name, value in inputs.items():
        if not whole and name not in taken:
            continue
        if isinstance(value, (list, np.ndarray)):
            value = torch.as_tensor(np.asarray(value))
        tensors[name] = value.to(device) if isinstance(value, Tensor) else value
    return tensors


def answered(model: Any, inputs: Mapping[str, Any]) -> list[int]:
    """The tokens of an encoder-decoder's own answer, its first one, which begins it, among them; not its last."""
    settings = model.generation_config
    unsaid = settings.max_length is None and settings.max_new_tokens is None
    limit = {"max_new_tokens": _ANSWER} if unsaid else {}
    with torch.no_grad():
        made = model.generate(**inputs, do_sample=False, num_beams=1, **limit)
    ids: list[int] = [int(id) for id in made[0]]
    return ids[:-1] if len(ids) > 1 else ids


def begun(model: Any, ids: list[int]) -> list[int]:
    """Tokens of an answer, as a decoder is given them: behind the one that begins it, and without the last."""
    start = getattr(model.config, "decoder_start_token_id", None)
    if start is None:
        raise HuggingFaceError(
            "model.config.decoder_start_token_id must be set, got None; give decoder_input_ids in a dict of inputs"
        )
    return [int(start), *ids[:-1]]


def continued(
    model: Any, ids: list[int], count: int, choose: Callable[[NDArray[np.float32]], int], ends: frozenset[int]
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Go on with a text by a decoder.

    Args:
        model: a causal language model of transformers.
        ids: the text's tokens.
        count: how many to add at most; one of `ends`, if it comes, is the last.
        choose: gives a token by logits, (vocabulary,).
        ends: the tokens that end a text.

    Yields:
        Each new token, and the logits that it was chosen by.
    """
    device = next(model.parameters()).device
    given, cache = torch.tensor([ids], device=device), None
    for _ in range(count):
        with torch.no_grad():
            out = model(input_ids=given, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        logits = out.logits[0, -1].float().cpu().numpy()
        chosen = choose(logits)
        yield chosen, logits
        if chosen in ends:
            return
        given = torch.tensor([[chosen]], device=device)
