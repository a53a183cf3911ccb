"""A long text through smollm2, with readouts of every head of every layer: `python -m bench.long_text [FILE]`.

The peer is transformers running the same files, for the output alone: its fast attention returns no weights, and its
eager attention builds the matrices. Each side runs in processes of its own, turn by turn. Time is from the text to the
logits of the last token, with everything loaded; memory is the process's peak as Linux counts it.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import eyeline as el
from bench.cases import THREADS
from eyeline.models import Model, load

TOKENS = 8192
TURNS = 2  # of each side; the faster one counts
WARM = 64  # tokens of a first run, which loads kernels and converts weights to float32
#: From the Debian package miscfiles, in the public domain: about 10,700 tokens.
CONSTITUTION = Path("/usr/share/state/us-constitution.gz")


def main(arguments: list[str]) -> None:
    path = Path(arguments[0]) if arguments else CONSTITUTION
    if not path.exists():
        sys.exit(f"there is no {path}; name a text file of {TOKENS} tokens or more, or install the package miscfiles")
    model = load("smollm2", progress=say)
    tokens, config = len(ids_of(model, path)[0]), model.config
    found: dict[str, list[dict[str, Any]]] = {"ours": [], "theirs": []}
    for _ in range(TURNS):
        for name, side in found.items():
            side.append(in_a_process(name, path))
    ours, theirs = (min(side, key=lambda turn: turn["seconds"]) for side in found.values())
    heads = config.layers * config.heads
    print(f"{path}: {tokens} tokens through {config.layers} layers on {THREADS} threads, float32")
    for name, side in (("Eyeline", ours), ("transformers, sdpa", theirs)):
        rate = tokens / side["seconds"]
        print(f"{name:20} {side['seconds']:6.1f} s  {rate:5.0f} tokens/s  at most {side['megabytes']:5.0f} MB")
    print(f"Eyeline computed TopK(8), Entropy() and Received() of {heads} heads; transformers its output alone.")
    print(f"The matrices of all heads would be {4 * heads * tokens**2 / 1e9:.0f} GB.")
    difference = np.abs(np.subtract(ours["logits"], theirs["logits"])).max()
    print(f"The last token's logits differ by {difference:.1e} at most, the largest being {max(theirs['logits']):.1f}.")


def ids_of(model: Model, path: Path) -> np.ndarray:
    """The first tokens of a text file, (1, N); N is fewer than `TOKENS` if the text is shorter."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return np.array([model.tokens(data.decode()).ids[:TOKENS]])


def in_a_process(side: str, path: Path) -> dict[str, Any]:
    threads = {f"{name}_NUM_THREADS": str(THREADS) for name in ("OPENBLAS", "MKL", "OMP")}
    command = [sys.executable, "-m", "bench.long_text", f"--{side}", str(path)]
    environment = {**os.environ, **threads, "EYELINE_THREADS": str(THREADS)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return dict(json.loads(done.stdout))


def ours(path: Path) -> dict[str, Any]:
    """Eyeline's run, which reports each layer when it is done."""
    model = load("smollm2")
    ids = ids_of(model, path)

    def run(ids: np.ndarray, tell: bool) -> np.ndarray:
        last = ids
        for number, layer in enumerate(model.layers(ids, read=[el.TopK(8), el.Entropy(), el.Received()]), start=1):
            last = layer.state[0, -1]
            if tell:
                say(f"Eyeline: layer {number} of {model.config.layers}")
        return model.logits(last)

    run(ids[:, :WARM], False)
    start = time.perf_counter()
    logits = run(ids, True)
    return measured(start, logits)


def theirs(path: Path) -> dict[str, Any]:
    """transformers' run."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(THREADS)
    model = load("smollm2")
    ids = torch.tensor(ids_of(model, path))
    twin = AutoModelForCausalLM.from_pretrained(model.source, dtype=torch.float32, attn_implementation="sdpa").eval()
    with torch.inference_mode():
        twin(ids[:, :WARM], logits_to_keep=1, use_cache=False)
        say("transformers: running")
        start = time.perf_counter()
        logits = twin(ids, logits_to_keep=1, use_cache=False).logits[0, -1].numpy()
    return measured(start, logits)


def measured(start: float, logits: np.ndarray) -> dict[str, Any]:
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"seconds": seconds, "megabytes": megabytes, "logits": logits.tolist()}


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    match sys.argv[1:]:
        case ["--ours", path]:
            print(json.dumps(ours(Path(path))))
        case ["--theirs", path]:
            print(json.dumps(theirs(Path(path))))
        case arguments:
            main(arguments)
