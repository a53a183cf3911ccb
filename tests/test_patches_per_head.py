"""TransformerLens' patches per head on its own definitions: a small dense model whose activations are overwritten.

In `transformer_lens.patching`, a patch runs the corrupted text and overwrites one activation by that of the clean run:
q, k, v and z (a head's output before W_o) are (position, head, width), k and v with key heads where there are fewer;
the pattern is (head, destination, source). q and k are patched before rotation there, and after it here, which is the
same, since what is patched stays at its position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import eyeline as el
from eyeline import edits as ed
from eyeline.edits.model_edits import Sites
from eyeline.traces import Trace

LAYERS, WIDTH, D, N, WORDS = 2, 24, 6, 7, 11
CLEAN, CORRUPTED = np.random.default_rng(0).integers(0, WORDS, (2, N))
#: Changes an activation: its name, its layer, the activation.
Patching = Callable[[str, int, np.ndarray], np.ndarray]


class Model:
    """A causal model in float64: embedding, layers of attention and of a feed-forward part, unembedding."""

    def __init__(self, heads: int, key_heads: int, rotary: bool) -> None:
        rng = np.random.default_rng(1)
        self.heads, self.key_heads, self.rotary = heads, key_heads, rotary
        self.embedding = rng.standard_normal((WORDS, WIDTH))
        self.positions = rng.standard_normal((N, WIDTH)) * (not rotary)
        self.W_q, self.W_k, self.W_v = (
            rng.standard_normal((LAYERS, count, WIDTH, D)) / 4 for count in (heads, key_heads, key_heads)
        )
        self.W_o = rng.standard_normal((LAYERS, heads, D, WIDTH)) / 4
        self.W_in, self.W_out = (rng.standard_normal((LAYERS, WIDTH, WIDTH)) / 4 for _ in range(2))
        self.unembedding = rng.standard_normal((WIDTH, WORDS))

    def turned(self, x: np.ndarray) -> np.ndarray:
        """Queries or keys (position, head, width), rotated by their positions."""
        if not self.rotary:
            return x
        angles = np.arange(N)[:, None, None] * 0.7 ** np.arange(D // 2)
        a, b = x[..., : D // 2], x[..., D // 2 :]
        turned = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
        return np.concatenate(turned, axis=-1)

    def projected(self, x: np.ndarray, layer: int) -> list[np.ndarray]:
        """q, k and v, (position, head, width)."""
        return [np.einsum("pw,hwd->phd", x, W[layer]) for W in (self.W_q, self.W_k, self.W_v)]

    def after(self, x: np.ndarray, z: np.ndarray, layer: int) -> np.ndarray:
        x = x + np.einsum("phd,hdw->pw", z, self.W_o[layer])
        return x + np.tanh(x @ self.W_in[layer]) @ self.W_out[layer]

    def start(self, tokens: np.ndarray) -> np.ndarray:
        return self.embedding[tokens] + self.positions

    def dense(self, tokens: np.ndarray, patching: Patching) -> np.ndarray:
        """Logits, with each activation as `patching` leaves it."""
        x, group = self.start(tokens), self.heads // self.key_heads
        for layer in range(LAYERS):
            q, k, v = (patching(name, layer, a) for name, a in zip("qkv", self.projected(x, layer), strict=True))
            q, k = self.turned(q), self.turned(k)
            k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
            scores = np.where(np.tri(N, dtype=bool), np.einsum("phd,shd->hps", q, k) / np.sqrt(D), -np.inf)
            exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
            pattern = patching("pattern", layer, exponentials / exponentials.sum(axis=-1, keepdims=True))
            z = patching("z", layer, np.einsum("hps,shd->phd", pattern, v))
            x = self.after(x, z, layer)
        return x @ self.unembedding

    def edited(self, tokens: np.ndarray, edits: list[ed.Edit]) -> tuple[np.ndarray, Trace]:
        """Logits on Eyeline's attention, and the run's trace, without what was edited."""
        own = ed.ModelEdits(edits, Sites({"decoder self": LAYERS}, self.heads, self.key_heads))
        x, at, kept = self.start(tokens), np.arange(N)[None], []
        for layer in range(LAYERS):
            q, k, v = self.projected(x, layer)
            arrays = [np.moveaxis(a, 1, 0) for a in (self.turned(q), self.turned(k), v)]
            kept.append(arrays)
            call = own.of_call("decoder self", layer, at, at)
            z = el.attention(*(a[None] for a in arrays), mask=el.Causal(), edits=call or ())
            x = self.after(x, np.moveaxis(z[0], 0, 1), layer)
        trace = Trace.of(*map(np.stack, zip(*kept, strict=True)), mask=el.Causal(), queries=[str(t) for t in tokens])
        return x @ self.unembedding, trace


def as_it_is(name: str, layer: int, activation: np.ndarray) -> np.ndarray:
    return activation


@dataclass(frozen=True)
class PatchThere:
    """A patch as it is named there, after `get_act_patch_attn_head_`.

    Attributes:
        activation: what it overwrites.
        axes: the axes whose indices it goes through, besides layers.
        numbers: the activation's numbers that it overwrites, at these indices.
        edit: the same as an edit, from the clean run.
    """

    activation: str
    axes: tuple[str, ...]
    numbers: Callable[..., Any]
    edit: Callable[..., ed.Edit]


def of_vectors(activation: str, ours: str, head: str) -> tuple[PatchThere, PatchThere]:
    """The patches of a head's vectors, at all positions and by position; `head` is how its heads are counted."""
    return (
        PatchThere(activation, (head,), lambda h: np.s_[:, h], lambda run, h: ed.Patch(run, ours, **{head: h})),
        PatchThere(
            activation,
            ("position", head),
            lambda p, h: np.s_[p, h],
            lambda run, p, h: ed.Patch(run, ours, positions=p, **{head: h}),
        ),
    )


PATCHES: dict[str, PatchThere] = {
    "pattern_all_pos": PatchThere("pattern", ("head",), lambda h: np.s_[h], lambda run, h: ed.Pattern(run, head=h)),
    "pattern_by_pos": PatchThere(
        "pattern",
        ("head", "position"),
        lambda h, to: np.s_[h, to],
        lambda run, h, to: ed.Pattern(run, head=h, queries=to),
    ),
    "pattern_dest_src_pos": PatchThere(
        "pattern",
        ("head", "position", "position"),
        lambda h, to, of: np.s_[h, to, of],
        lambda run, h, to, of: ed.Pattern(run, head=h, queries=to, keys=of),
    ),
}
for name, *vectors in (("out", "z", "output", "head"), ("q", "q", "q", "head"), *((x, x, x, "key_head") for x in "kv")):
    PATCHES[f"{name}_all_pos"], PATCHES[f"{name}_by_pos"] = of_vectors(*vectors)


@pytest.fixture(scope="module", params=[(3, 3, False), (4, 2, True)], ids=["positions learnt", "grouped and rotary"])
def model(request):
    return Model(*request.param)


def test_there_are_eleven():
    assert len(PATCHES) == 11


@pytest.mark.parametrize("name", PATCHES)
def test_patches_of_every_head_and_position(model, name):
    """Each patch alone, in each layer: all logits, not a metric of them."""
    there = PATCHES[name]
    clean: dict[tuple[str, int], np.ndarray] = {}

    def remember(name: str, layer: int, x: np.ndarray) -> np.ndarray:
        return clean.setdefault((name, layer), x)

    model.dense(CLEAN, remember)
    _, run = model.edited(CLEAN, [])
    corrupted = model.dense(CORRUPTED, as_it_is)
    sizes = {"head": model.heads, "key_head": model.key_heads, "position": N}
    effects = []
    for layer, *index in product(range(LAYERS), *(range(sizes[axis]) for axis in there.axes)):

        def overwrite(name: str, at: int, x: np.ndarray, layer=layer, index=index) -> np.ndarray:
            if (name, at) == (there.activation, layer):
                x[there.numbers(*index)] = clean[name, at][there.numbers(*index)]
            return x

        want = model.dense(CORRUPTED, overwrite)
        got, _ = model.edited(CORRUPTED, [replace(there.edit(run, *index), layer=layer)])
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        effects.append(abs(want - corrupted).max())
    assert max(effects) > 0.01
