"""Whole models in NumPy beside other libraries: `python -m bench.embedding`.

MiniLM on padded batches, and on 256 sentences of natural lengths (sentences.txt): packed as `eyeline.embed` packs them,
and in the other libraries padded, in batches of 32 in the order in which they come, and sorted by length in batches of
the size that is best there. Their time is from texts to pooled vectors, tokenizing included. smollm2: steps after 1,024
tokens. Everything is float32, with one thread and with two (or as many as are named: `python -m bench.embedding 2`), in
one process, turn by turn. A peer that isn't installed is left out.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import eyeline as el
from bench.peers import encoders
from eyeline.bench.turns import times_as_long, turn_by_turn
from eyeline.models import Model, load

SENTENCES = Path(__file__).with_name("sentences.txt")
READ = [el.TopK(8), el.Entropy(), el.Received()]
BATCHES = (8, 16, 32)
PEERS = {"transformers, sdpa": encoders.sdpa, "ONNX Runtime": encoders.onnx_runtime, "OpenVINO": encoders.openvino}
TURNS = 7


def main(arguments: list[str]) -> None:
    if not arguments:
        for threads in ("1", "2"):  # each in a process of its own: OpenVINO counts the processors only once
            subprocess.run([sys.executable, "-m", "bench.embedding", threads], check=True)
    for threads in map(int, arguments):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(os.getppid()))[:threads])
        el.set_threads(threads)
        model = load("minilm")
        peers = {}
        for name, make in PEERS.items():
            try:
                peers[name] = make(model.source, threads)
            except ModuleNotFoundError as missing:
                say(f"{name} is left out: {missing.name} isn't installed")
        padded(model, peers, threads)
        natural(model, peers, threads)
        decoding(threads)


def padded(model: Model, peers: dict[str, encoders.States], threads: int) -> None:
    """Batches in which all tokens are real."""
    for batch in (8, 32):
        ids, lengths = np.random.default_rng(0).integers(1000, 30000, (batch, 128)), np.full(batch, 128)

        def ours(ids: NDArray[np.int64] = ids, **read: Any) -> NDArray[np.float32]:
            for layer in model.layers(ids, **read):
                last = layer.state
            return last

        sides: dict[str, Callable[[], Any]] = {"Eyeline": ours, "Eyeline, read": lambda ours=ours: ours(read=READ)}
        for name, states in peers.items():
            sides[name] = lambda states=states, ids=ids, lengths=lengths: states(ids, lengths)
            say_difference(name, states(ids, lengths), ours())
        report(f"MiniLM {batch} × 128, {threads} threads", sides, threads)


def natural(model: Model, peers: dict[str, encoders.States], threads: int) -> None:
    """256 sentences."""
    texts = SENTENCES.read_text().splitlines()
    by_length = sorted(texts, key=lambda text: len(model.tokens(text)))
    sides: dict[str, Callable[[], Any]] = {
        "Eyeline": lambda: el.embed(texts, model),
        "Eyeline, read": lambda: el.embed(texts, model, read=READ),
    }
    for name, states in peers.items():
        run = Padded(model, states)
        best = min(BATCHES, key=lambda size, run=run: run.seconds(by_length, size))
        sides[f"{name}, in batches of 32"] = lambda run=run: run(texts, 32)
        sides[f"{name}, sorted, in batches of {best}"] = lambda run=run, best=best: run(by_length, best)
        say_difference(name, run(texts, 32), el.embed(texts, model))
    report(f"MiniLM, {len(texts)} sentences, {threads} threads", sides, threads)


class Padded:
    """A model of another library that embeds texts, padded."""

    def __init__(self, model: Model, states: encoders.States) -> None:
        self.tokenizer, self.states = model.tokenizer, states

    def seconds(self, texts: list[str], size: int) -> float:
        """The time of one run, after one that isn't counted."""
        self(texts[:size], size)
        start = time.perf_counter()
        self(texts, size)
        return time.perf_counter() - start

    def __call__(self, texts: list[str], size: int) -> NDArray[np.float32]:
        vectors = []
        for first in range(0, len(texts), size):
            found = self.tokenizer.encode_batch_fast(texts[first : first + size])
            lengths = np.array([len(one.ids) for one in found])
            ids = np.zeros((len(found), lengths.max()), np.int64)
            for row, one in zip(ids, found, strict=True):
                row[: len(one.ids)] = one.ids
            mask = encoders.real(ids, lengths)[..., None].astype(np.float32)
            mean = (self.states(ids, lengths) * mask).sum(axis=1) / lengths[:, None].astype(np.float32)
            vectors.append(mean / np.linalg.norm(mean, axis=1, keepdims=True))
        return np.concatenate(vectors)


def decoding(threads: int, context: int = 1024) -> None:
    """Steps of smollm2 after many tokens, each from a token to the logits of the next; the context grows with each."""
    try:
        import torch
        import transformers
    except ModuleNotFoundError as missing:
        say(f"transformers is left out: {missing.name} isn't installed")
        return
    model = load("smollm2")
    decoder, _ = model.decoder()
    ids = np.random.default_rng(0).integers(1000, 30000, (1, context))
    caches = decoder.caches()
    for _ in decoder.layers(decoder.embed(ids), None, None, (), caches):
        pass
    token = ids[:, :1]

    def ours() -> NDArray[np.float32]:
        for layer in decoder.layers(decoder.embed(token), None, None, (), caches):
            last = layer.state
        return decoder.logits(last[0, -1])

    torch.set_num_threads(threads)
    twin = transformers.AutoModelForCausalLM.from_pretrained(
        model.source, attn_implementation="sdpa", dtype=torch.float32
    ).eval()
    with torch.inference_mode():
        past = twin(torch.from_numpy(ids), use_cache=True).past_key_values

    @torch.inference_mode()
    def theirs() -> NDArray[np.float32]:
        return twin(torch.from_numpy(token), past_key_values=past, use_cache=True).logits[0, -1].numpy()

    say_difference("transformers, sdpa", theirs(), ours())
    report(
        f"smollm2, a step after {context}, {threads} threads",
        {"Eyeline": ours, "transformers, sdpa": theirs},
        threads,
        25,
    )


def report(name: str, sides: dict[str, Callable[[], Any]], threads: int, turns: int = TURNS) -> None:
    for call in sides.values():
        call()
    seconds = turn_by_turn(sides, turns, threads)
    say(name)
    for side, times in seconds.items():
        ratios = np.divide(times, seconds["Eyeline"])
        error = 1.2533 * ratios.std(ddof=1) / len(ratios) ** 0.5  # of a median
        middle = times_as_long(times, seconds["Eyeline"])
        say(f"    {side:40} {statistics.median(times) * 1e3:8.1f} ms  {middle:.3f} ± {error:.3f} × Eyeline's")


def say_difference(name: str, theirs: NDArray[Any], ours: NDArray[Any]) -> None:
    say(f"    {name} differs by {np.abs(theirs - ours).max():.1e} at most")


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
