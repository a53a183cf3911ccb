"""Whole models of transformers on `eyeline` beside the same on `sdpa`, and watched beside not watched.

The sides take turns back to back in one process: what precedes a call of attention is the model itself.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoModelForCausalLM
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import eyeline as el
from eyeline.bench.turns import back_to_back, times_as_long

READ = [el.TopK(8), el.Entropy(), el.Received()]
#: How many times as long as the same unwatched watching may take.
WATCHED_AT_MOST = 1.1
LOADING = 64  # tokens of a first call, which isn't timed
_KINDS = {"minilm": AutoModel, "smollm2": AutoModelForCausalLM}
Call = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Workload:
    """A model's work.

    Attributes:
        model: its name in the catalogue.
        batch, tokens: the shape of the ids.
        target: the least ratio of `sdpa`'s time to ours that we aim at.
        turns: how often each side is timed.
        padded_from: the length of the shortest text, where lengths run from it to `tokens`.
        new: how many tokens are generated, one by one.
    """

    model: str
    batch: int
    tokens: int
    target: float
    turns: int
    padded_from: int | None = None
    new: int = 0

    @property
    def sizes(self) -> str:
        if self.new:
            return f"{self.new} tokens after {self.tokens:,}"
        if self.padded_from:
            return f"{self.batch} × {self.tokens}, padded from {self.padded_from}"
        return f"{self.batch} × {self.tokens:,}"

    @property
    def label(self) -> str:
        """The model and the sizes, which together no other workload has."""
        return f"{self.model} {self.sizes}"

    def inputs(self) -> dict[str, torch.Tensor]:
        """Random ids and the mask of the real ones, (batch, tokens) each, the same at every call."""
        rng = np.random.default_rng(0)
        ids = torch.from_numpy(rng.integers(1000, 20000, (self.batch, self.tokens)))
        real = torch.linspace(self.padded_from or self.tokens, self.tokens, self.batch).long()
        mask = (torch.arange(self.tokens) < real[:, None]).long()
        return {"input_ids": ids, "attention_mask": mask}


WORKLOADS = [
    Workload("minilm", 1, 16, 1.0, turns=61),
    Workload("minilm", 8, 128, 1.08, turns=11),
    Workload("minilm", 32, 128, 1.04, turns=7),
    Workload("minilm", 32, 128, 1.1, turns=7, padded_from=16),
    Workload("minilm", 8, 512, 1.13, turns=5),
    Workload("smollm2", 1, 16, 1.0, turns=15),
    Workload("smollm2", 1, 512, 1.04, turns=5),
    Workload("smollm2", 1, 2048, 1.12, turns=3),
    Workload("smollm2", 1, 256, 1.05, turns=5, new=24),
    Workload("smollm2", 1, 1024, 1.08, turns=3, new=64),
]


def measure(workload: Workload) -> dict[str, Any]:
    """One workload's entry of the results file."""
    folder = el.models.load(workload.model).source
    models = {name: _loaded(workload.model, str(folder), name) for name in ("sdpa", "eyeline")}
    return compare(models, workload.inputs(), workload.new, workload.turns)


def compare(models: dict[str, Any], inputs: dict[str, torch.Tensor], new: int, turns: int) -> dict[str, Any]:
    """Time a model on `sdpa` and on `eyeline`, and the latter watched.

    Args:
        models: the two, as "sdpa" and "eyeline".
        inputs: the ids and the mask, (batch, tokens) each.
        new: how many tokens to generate; 0 for one forward pass.
        turns: how often each side is timed.
    """
    last: dict[str, torch.Tensor] = {}
    with attention_timed("sdpa", "eyeline") as spent:
        during: dict[str, list[float]] = {"sdpa": [], "eyeline": [], "watched": []}

        def side(name: str, inputs: dict[str, torch.Tensor], new: int) -> Callable[[], None]:
            model = models["eyeline" if name == "watched" else name]

            @torch.inference_mode()
            def turn() -> None:
                before = spent[0]
                if name == "watched":
                    with el.watch(model, READ):
                        last[name] = _outputs(model, inputs, new)
                else:
                    last[name] = _outputs(model, inputs, new)
                during[name].append(spent[0] - before)

            return turn

        beginning = {name: x[:, :LOADING] for name, x in inputs.items()}
        back_to_back({name: side(name, beginning, min(new, 1)) for name in during}, 1)  # the first call loads
        seconds = back_to_back({name: side(name, inputs, new) for name in during}, turns)
    shares = [inside / whole for inside, whole in zip(during["sdpa"][1:], seconds["sdpa"], strict=True)]
    real = inputs["attention_mask"].bool() if last["sdpa"].ndim == 3 and not new else ...
    difference = (last["eyeline"] - last["sdpa"])[real].abs().max().item()
    return {
        "milliseconds": {name: round(statistics.median(times) * 1e3, 3) for name, times in seconds.items()},
        "ratio": round(times_as_long(seconds["sdpa"], seconds["eyeline"]), 3),
        "watched_ratio": round(times_as_long(seconds["watched"], seconds["eyeline"]), 3),
        "attention_share": round(statistics.median(shares), 4),
        "attention_ratio": round(times_as_long(during["sdpa"][1:], during["eyeline"][1:]), 3),
        "difference": float(f"{difference:.1e}"),
        "largest": float(f"{last['sdpa'][real].abs().max().item():.1e}"),
    }


@contextmanager
def attention_timed(*implementations: str) -> Iterator[list[float]]:
    """Yield a list of one number, the seconds spent so far in the attention functions that models call."""
    spent = [0.0]

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            found = function(*given, **named)
            spent[0] += time.perf_counter() - start
            return found

        return call

    for name in implementations:
        ALL_ATTENTION_FUNCTIONS[name] = timed(ALL_ATTENTION_FUNCTIONS[name])
    try:
        yield spent
    finally:
        for name in implementations:
            del ALL_ATTENTION_FUNCTIONS[name]  # what is registered for all comes back


def _loaded(model: str, folder: str, implementation: str) -> Any:
    loaded = _KINDS[model].from_pretrained(folder, attn_implementation=implementation, dtype=torch.float32)
    return loaded.eval()


def _outputs(model: Any, inputs: dict[str, torch.Tensor], new: int) -> torch.Tensor:
    """The last hidden states or logits, (batch, tokens, width); of new tokens their logits, (batch, new, width)."""
    if new:
        asked = {"max_new_tokens": new, "min_new_tokens": new, "do_sample": False}
        found = model.generate(**inputs, **asked, return_dict_in_generate=True, output_logits=True)
        return torch.stack(found.logits, 1)
    found = model(**inputs)
    return found.logits if hasattr(found, "logits") else found.last_hidden_state
