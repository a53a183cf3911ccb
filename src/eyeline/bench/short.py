"""A few cases of attention, measured within seconds on this machine, beside torch if it is installed."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline import reference
from eyeline.bench.peak import gigaflops
from eyeline.bench.products import array_product, torch_product
from eyeline.bench.turns import after_products, times_as_long, turn_by_turn
from eyeline.calls import attention, observe
from eyeline.kernels.machine import target
from eyeline.kernels.threads import get_threads
from eyeline.masks import Causal, Mask, Window
from eyeline.readouts import Entropy, MeanDistance, Readout, Received, TopK
from eyeline.views.measurements import BothWays, Measured, Surroundings, Timing
from eyeline.words import noted, worded

Array = NDArray[Any]


@dataclass(frozen=True)
class Task:
    """One row of the table: heads, queries, head width; keys and key heads where their numbers differ."""

    name: str
    heads: int
    queries: int
    head_dim: int
    keys: int | None = None
    key_heads: int | None = None
    mask: Mask | None = None
    read: bool = False

    @property
    def sizes(self) -> str:
        heads = (
            worded("{heads} over {key_heads}", heads=self.heads, key_heads=self.key_heads)
            if self.key_heads
            else self.heads
        )
        tokens = f"{self.queries} × {self.keys}" if self.keys else self.queries
        return f"{heads}, {tokens}, {self.head_dim}"

    @property
    def projection(self) -> tuple[int, int, int]:
        """The sizes of the product that precedes attention in a model, the projection to the values: its rows, their
        width and the width of the result."""
        return self.queries, self.heads * self.head_dim, (self.key_heads or self.heads) * self.head_dim

    def arrays(self) -> tuple[Array, Array, Array]:
        """The arrays q, k and v, the same at every call."""
        rng = np.random.default_rng(0)
        keys = (1, self.key_heads or self.heads, self.keys or self.queries, self.head_dim)
        shapes = (1, self.heads, self.queries, self.head_dim), keys, keys
        q, k, v = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
        return q, k, v


TASKS = [
    Task(noted("forward"), 12, 64, 32),
    Task(noted("forward"), 12, 512, 64),
    Task(noted("forward"), 12, 2048, 64),
    Task(noted("forward, causal"), 12, 512, 64, mask=Causal()),
    Task(noted("the last 256 tokens"), 12, 4096, 64, mask=Causal() & Window(before=255, after=0)),
    Task(noted("output and four readouts"), 12, 1024, 64, read=True),
    Task(noted("decoding"), 32, 1, 128, keys=16384, key_heads=8),
]


def surroundings() -> Surroundings:
    """Describe this machine's current state: processor, threads, measured peak, whether other programs keep it busy."""
    threads = get_threads()
    peak = gigaflops(threads)
    here, version = target(), None
    if find_spec("torch"):
        from importlib.metadata import version as version_of

        version = version_of("torch").split("+")[0]
    return Surroundings(here.cpu, here.bits, threads, peak, peak < 0.9 * threads * gigaflops(1), version)


def measured(task: Task, here: Surroundings, turns: int | None = None) -> Measured:
    """Measure one row of the table, in a model and alone, in alternation with torch if it is installed.

    Beside torch, our call gets tensors too; else arrays. Each side is timed in each way `turns` times: 11 times where
    there are few tokens, else 5 times, unless given.
    """
    if turns is None:
        turns = 11 if max(task.queries, task.keys or 0) <= 512 else 5
    arrays = task.arrays()
    sides = {"ours": _ours(task, arrays, here)}
    if here.torch:
        sides["torch"] = _torch(task, arrays, here.threads)
    truth = _truth(task, arrays)
    errors = {}
    for name, call in sides.items():
        difference = np.asarray(call(), np.float64)[:, : truth.shape[1]] - truth
        errors[name] = float(np.sqrt((difference**2).mean()))
    product = (torch_product if here.torch else array_product)(*task.projection)
    ways = (
        after_products(sides, dict.fromkeys(sides, product), turns, here.threads),
        turn_by_turn(sides, turns, here.threads),
    )
    found = {
        name: Timing(BothWays(*(statistics.median(seconds[name]) for seconds in ways)), error)
        for name, error in errors.items()
    }
    ratio, of_peak = None, None
    if here.torch:
        ratio = BothWays(*(times_as_long(seconds["torch"], seconds["ours"]) for seconds in ways))
    if task == Task(task.name, task.heads, task.queries, task.head_dim):
        operations = 4 * task.heads * task.queries**2 * task.head_dim
        of_peak = BothWays(*(operations / statistics.median(seconds["ours"]) / here.peak / 1e9 for seconds in ways))
    return Measured(task.name, task.sizes, found["ours"], found.get("torch"), ratio, of_peak)


def _ours(task: Task, arrays: tuple[Array, Array, Array], here: Surroundings) -> Callable[[], Any]:
    given: tuple[Any, ...] = arrays
    if here.torch:
        import torch

        given = tuple(torch.from_numpy(x) for x in arrays)
    if task.read:
        read: list[Readout] = [TopK(8), Entropy(), Received(), MeanDistance()]
        return lambda: observe(*given, mask=task.mask, read=read).output
    return lambda: attention(*given, mask=task.mask)


def _torch(task: Task, arrays: tuple[Array, Array, Array], threads: int) -> Callable[[], Array]:
    import torch

    torch.set_num_threads(threads)
    q, k, v = map(torch.from_numpy, arrays)
    causal = task.mask == Causal()
    booleans = None if task.mask is None or causal else torch.from_numpy(task.mask.dense(task.queries))
    i = torch.arange(task.queries)
    distances = (i[:, None] - i).abs().float()

    def matrix() -> Any:
        logs = (q @ k.transpose(-1, -2) / task.head_dim**0.5).log_softmax(-1)
        weights = logs.exp()
        weights.topk(8), (weights * logs).sum(-1), weights.sum(-2), torch.einsum("bhij,ij->bhi", weights, distances)
        return (weights @ v).numpy()

    def plain() -> Any:
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=booleans, is_causal=causal, enable_gqa=task.key_heads is not None
        ).numpy()

    return torch.no_grad()(matrix if task.read else plain)


def _truth(task: Task, arrays: tuple[Array, Array, Array]) -> NDArray[np.float64]:
    """The output in float64, of the query heads that share the first key head."""
    q, k, v = arrays
    group = task.heads // k.shape[1]
    return reference.steps(q[:, :group], k[:, :1], v[:, :1], mask=task.mask).output
