"""Effects of all heads beside as many whole forward passes: `python -m bench.effects`.

What a user of transformers would do is a forward pass with each head switched off by a hook: at least a forward pass on
SDPA for each head, which is measured here without the hook, in the same process, turn by turn. Models are loaded
beforehand; the first effects of each model aren't timed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import torch
from transformers import AutoModel, AutoModelForCausalLM

import eyeline as el

THREADS = 2
#: A sentence of 12 words; and one of 16 tokens of smollm2.
TWELVE = "The old man the boat while the horse raced past the barn"
SIXTEEN = "When Mary and John went to the store, John gave a book to his old"
#: The most seconds for minilm, and the most of as many forward passes for smollm2.
SECONDS, SHARE = 1.0, 0.35


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.effects", description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", default=["minilm", "smollm2"])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--passes", type=int, default=27, help="forward passes in a turn, of as many as there are heads"
    )
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    el.set_threads(THREADS)
    torch.set_num_threads(THREADS)
    for name, text, wanted in (("minilm", TWELVE, None), ("smollm2", SIXTEEN, " friend")):
        if name in options.models:
            print(compared(name, text, wanted, options.turns, options.passes), flush=True)


def compared(name: str, text: str, next: str | None, turns: int, passes: int) -> str:
    """One model's line."""
    model = el.models.load(name)
    kind = AutoModelForCausalLM if model.config.causal else AutoModel
    theirs = kind.from_pretrained(str(model.source), attn_implementation="sdpa", dtype=torch.float32).eval()
    ids = torch.tensor([model.tokens(text).ids])
    token = None if model.config.causal else text.split()[-1]
    heads = model.config.layers * model.config.heads

    @torch.inference_mode()
    def forward() -> None:
        for _ in range(passes):
            theirs(ids)

    def effects(edges: int) -> Callable[[], object]:
        return lambda: el.effects(text, model=model, token=token, next=next, edges=edges)

    ours, whole, edges = [], [], []
    for turn in range(turns + 1):
        times = [_seconds(effects(0)), _seconds(forward) * heads / passes, _seconds(effects(64))]
        if turn:  # the first ones load and compile
            for series, spent in zip((ours, whole, edges), times, strict=True):
                series.append(spent)
    share = statistics.median(a / b for a, b in zip(ours, whole, strict=True))
    seconds = statistics.median(ours)
    target = f"at most {SHARE}" if model.config.causal else f"at most {SECONDS} s"
    return (
        f"{name}, {ids.shape[1]} tokens: {heads} heads in {seconds:.2f} s, {share:.3f} of {heads} forward passes of "
        f"transformers on SDPA, {statistics.median(whole):.2f} s (aim: {target}); with 64 edges too "
        f"{statistics.median(edges):.2f} s"
    )


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
