"""The comparisons of a family on Eyeline's attention with the same on transformers' eager one, by name."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

import eyeline as el

from .tiny_models import LENGTH, Family, Given, numbers, words

#: Where documents begin in packed texts.
STARTS = ((0, 5), (0, 3))
NEW_TOKENS = 6


@lru_cache(maxsize=2)
def model_of(family: Family) -> PreTrainedModel:
    return family.build()


def on(model: PreTrainedModel, attention: str) -> PreTrainedModel:
    """The model, on this attention."""
    model.set_attn_implementation(attention)
    return model


def run(model: PreTrainedModel, attention: str, given: Given, **more: Any) -> Any:
    with torch.no_grad():
        return on(model, attention)(**given.inputs, **more)


def within(output: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), output)


def outputs(family: Family, output: Any, given: Given) -> list[Tensor]:
    """What is compared of a model's output: that of the tokens that aren't padding."""
    found = []
    for path, kind in family.kind.outputs.items():
        tensor, real = within(output, path), given.real.get(kind)
        found.append(tensor if real is None else tensor[real])
    return found


def apart(got: list[Tensor], want: list[Tensor]) -> float:
    """The largest difference, relative to the largest value of its tensor."""
    pairs = zip(got, want, strict=True)
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in pairs)


def padded(family: Family, padding: str) -> float:
    model, given = model_of(family), family.kind.given(padding)
    eager, ours = (outputs(family, run(model, name, given), given) for name in ("eager", "eyeline"))
    return apart(ours, eager)


def generate(family: Family, **how: Any) -> float:
    """The share of new tokens that aren't eager's."""
    model = model_of(family)
    given = family.kind.given(family.kind.paddings[1] if len(family.kind.paddings) > 1 else "no padding")
    inputs = {name: value for name, value in given.inputs.items() if not name.startswith("decoder_")}
    how |= {"max_new_tokens": NEW_TOKENS, "do_sample": False}
    with torch.no_grad():
        eager, ours = (on(model, name).generate(**inputs, **how) for name in ("eager", "eyeline"))
    assert eager.shape[1] >= NEW_TOKENS
    return float((eager != ours).double().mean())


def static_cache(family: Family) -> float:
    return generate(family, cache_implementation="static")


def in_two_parts(family: Family) -> float:
    """Five tokens and then three, with a cache, beside eager's and beside all eight at once."""
    model, ids = model_of(family), words(1)[:, :8]
    found = {}
    for name in ("eager", "eyeline"):
        cache = DynamicCache(config=model.config)
        with warnings.catch_warnings():  # of the argument's next name, which earlier versions don't know
            warnings.simplefilter("ignore", FutureWarning)
            run(model, name, Given({"input_ids": ids[:, :5], "past_key_values": cache}))
            found[name] = run(model, name, Given({"input_ids": ids[:, 5:], "past_key_values": cache})).logits
    whole = run(model, "eyeline", Given({"input_ids": ids})).logits[:, 5:]
    return apart([found["eyeline"], found["eyeline"]], [found["eager"], whole])


def packed(family: Family) -> float:
    """Two documents in each text, beside eager's and beside each document alone."""
    model, ids = model_of(family), words(1)
    positions = torch.stack([torch.cat([torch.arange(b), torch.arange(LENGTH - b)]) for _, b in STARTS])
    given = Given({"input_ids": ids, "position_ids": positions, "use_cache": False})
    eager, ours = (run(model, name, given).logits for name in ("eager", "eyeline"))
    alone = [
        torch.cat(
            [run(model, "eager", Given({"input_ids": part})).logits[0] for part in (row[None, :b], row[None, b:])]
        )
        for row, (_, b) in zip(ids, STARTS, strict=True)
    ]
    return apart([ours, ours], [eager, torch.stack(alone)])


def bfloat16(family: Family) -> float:
    """The error in bfloat16, as a multiple of eager's own in bfloat16; both against float32."""
    given = family.kind.given(family.kind.paddings[-1])
    half = copy.deepcopy(model_of(family)).to(torch.bfloat16)
    low = Given({name: _as(x, torch.bfloat16) for name, x in given.inputs.items()}, given.real)
    exact = Given({name: _as(x, torch.float32) for name, x in low.inputs.items()}, given.real)
    eager, ours = (outputs(family, run(half, name, low), given) for name in ("eager", "eyeline"))
    want = outputs(family, run(half.float(), "eager", exact), given)
    errors = [[(a.float() - b).square().mean().sqrt() for a, b in zip(got, want, strict=True)] for got in (ours, eager)]
    return max(float(our / their) for our, their in zip(*errors, strict=True))


def _as(x: Any, dtype: torch.dtype) -> Any:
    return x.to(dtype) if isinstance(x, Tensor) and x.is_floating_point() else x


def gradients(family: Family) -> float:
    """Of all parameters, in training. Those that are 0 but for rounding, as a key's bias has, only have to be so."""
    given = family.kind.given(family.kind.paddings[-1])
    both = []
    for name in ("eager", "eyeline"):
        model = on(copy.deepcopy(model_of(family)), name).train()
        parts = outputs(family, model(**given.inputs), given)
        sum((part * numbers(3, *part.shape)).sum() for part in parts).backward()
        both.append({path: p.grad for path, p in model.named_parameters() if p.grad is not None})
    eager, ours = both
    assert eager.keys() == ours.keys()
    top = max(float(gradient.abs().max()) for gradient in eager.values())
    found = []
    for path, want in eager.items():
        largest = float(want.abs().max())
        found.append(float((ours[path] - want).abs().max()) / (top if largest < 1e-6 * top else largest))
    return max(found)


def watched(family: Family, padding: str) -> tuple[el.huggingface.Watched, dict[str, tuple[Tensor, ...]], Given]:
    """What is seen, and eager's weights of every layer by kind of attention."""
    model, given = model_of(family), family.kind.given(padding)
    eager = run(model, "eager", given, output_attentions=True)
    with el.watch(model, [el.TopK(3), el.Entropy(), el.Received(), el.Weights()]) as seen, torch.no_grad():
        model(**given.inputs)
    return seen, {kind: within(eager, path) for kind, path in family.kind.attentions.items()}, given


def weights(family: Family) -> float:
    """The weights that are read, of the queries that aren't padding, beside eager's."""
    seen, eager, given = watched(family, family.kind.paddings[-1])
    found, wanted = [], []
    for kind, layers in eager.items():
        for layer, want in enumerate(layers):
            real = given.real.get(kind)
            got = torch.from_numpy(seen.of(kind=kind, layer=layer)[0].seen.weights)
            found.append(got if real is None else got.transpose(1, 2)[real])
            wanted.append(want if real is None else want.transpose(1, 2)[real])
    return apart(found, wanted)


CASES: dict[str, Callable[[Family], float]] = {
    "no padding": lambda family: padded(family, "no padding"),
    "left padding": lambda family: padded(family, "left padding"),
    "right padding": lambda family: padded(family, "right padding"),
    "generate": generate,
    "static cache": static_cache,
    "in two parts": in_two_parts,
    "packed": packed,
    "bfloat16": bfloat16,
    "gradients": gradients,
    "weights": weights,
}
