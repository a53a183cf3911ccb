"""Tensors, masks, scores and readouts for the tests of `eyeline.torch`: every kind, at awkward sizes."""

from __future__ import annotations

import numpy as np
import torch

import eyeline as el
from eyeline.masks import Mask
from eyeline.readouts.observation import Observation
from eyeline.scores import Score

#: N and M of the masks, scores and readouts below.
QUERIES, KEYS, HEADS = 3, 5, 2


def odd(b: int, h: int, i: int, j: int) -> bool:
    return (i + j + h) % 2 == 1


def bent(score: float, b: int, h: int, i: int, j: int) -> float:
    return 0.5 * score + 0.1 * score * score - 0.1 * abs(i - j)


def slope_of_bent(score: float, b: int, h: int, i: int, j: int) -> float:
    return 0.5 + 0.2 * score


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Normal numbers that have a gradient."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()


def inputs(dtype: torch.dtype = torch.float64, *, groups: int = 1) -> tuple[torch.Tensor, ...]:
    """q, k, v of 2 batch elements."""
    return tuple(
        numbers(2, heads, tokens, width, seed=seed, dtype=dtype)
        for seed, (heads, tokens, width) in enumerate(
            ((HEADS, QUERIES, 2), (groups, KEYS, 2), (groups, KEYS, 3)), start=1
        )
    )


HOLES = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 1, 1]], bool)

MASKS: dict[str, Mask | None] = {
    "none": None,
    "causal": el.Causal("end"),
    "chunk": el.Causal(1) & el.Window(1, 0, 1) & el.Documents([2, 3], align=1),
    "window": el.Window(1, 0, "start"),
    "lengths": el.Padding(queries=[3, 1], keys=[2, 5]),
    "documents": el.Documents([[1, 2], [2, 0]], keys=[[3, 2], [1, 4]]),
    "prefix": el.PrefixLM(2, "start"),
    "dense": el.Dense(HOLES),
    "tensor": el.Dense(torch.from_numpy(HOLES)),
    "intervals": el.Intervals(np.random.default_rng(2).integers(0, 9, (2, 1, 2, 2))),
    "where": el.MaskFunction(odd),
    "joined": (el.Causal("end") & el.Padding(keys=[2, 5])) | ~el.Dense(HOLES),
}


def scores() -> dict[str, list[Score]]:
    """Every score modifier, with parameters that have gradients."""
    bias, table = numbers(HEADS, QUERIES, KEYS, seed=5), numbers(8, HEADS, seed=6)
    slopes, logits = numbers(HEADS, seed=7), numbers(HEADS, seed=8)
    return {
        "none": [],
        "alibi": [el.Alibi(align="end")],
        "slopes": [el.Alibi(slopes, align="start")],
        "relative": [el.RelativeBias(table, align="end")],
        "decoder": [el.RelativeBias(table, bidirectional=False, align="end")],
        "bias": [el.Bias(bias)],
        "wide bias": [el.Bias(numbers(2, 1, 1, KEYS, seed=9))],
        "softcap": [el.Softcap(1.5)],
        "function": [el.ScoreFunction(bent)],
        "derivative": [el.ScoreFunction(bent, slope_of_bent)],
        "sinks": [el.Sinks(logits)],
        "all": [
            el.Bias(bias),
            el.RelativeBias(table, align="end"),
            el.Softcap(2.0),
            el.Alibi(slopes, "end"),
            el.Sinks(logits),
        ],
    }


GROUPS = np.array([0, 1, 1, -1, 0])
#: Factors of the keys, for each batch element and head; one is 0.
TIMES = np.random.default_rng(10).integers(0, 5, (2, HEADS, KEYS)) / 2
READOUTS = {
    "top-k": el.TopK(2),
    "all keys": el.TopK(7),
    "top-k times": el.TopK(2, times=TIMES),
    "entropy": el.Entropy(),
    "received": el.Received(),
    "received mean": el.Received("mean"),
    "received max": el.Received("max"),
    "received times": el.Received(times=TIMES[0]),
    "received mean times": el.Received("mean", times=torch.from_numpy(TIMES)),
    "received max times": el.Received("max", times=TIMES[0, 0]),
    "mean distance": el.MeanDistance("end"),
    "offset mass": el.OffsetMass([-3, -1, 0, 1, 4], "end"),
    "group mass": el.GroupMass(GROUPS),
    "group mass each": el.GroupMass(np.stack([GROUPS, GROUPS[::-1]]), count=3),
    "group mass times": el.GroupMass(GROUPS, times=TIMES),
    "pooled": el.Pooled(2, 3),
    "pooled max": el.Pooled(2, 3, "max"),
    "enlarged": el.Pooled(4, 2),
    "weights": el.Weights([2, 0, 2], slice(None, None, -2)),
    "a row": el.Weights(-1),
}


def parameters(changes: list[Score]) -> list[torch.Tensor]:
    return [parameter for change in changes for parameter in change.parameters().values()]


def seen(observation: Observation) -> dict[str, torch.Tensor]:
    """All that was observed and has gradients, without the infinite lse of rows that see nothing."""
    found = {
        name: getattr(observation, name)
        for name in (
            "output",
            "weights",
            "entropy",
            "received",
            "mean_distance",
            "offset_mass",
            "group_mass",
            "pooled",
            "sink",
        )
        if getattr(observation, name, None) is not None
    }
    found["lse"] = observation.lse.masked_fill(observation.lse == -torch.inf, 0.0)
    if el.TopK in observation:
        found["top_k"] = observation.top_k.weights
    return found
