"""The memory of a survey over a corpus of any size: a generated file, and a model of one layer that costs nothing.

    python bench/survey_memory.py [MEGABYTES]

The file is made in a temporary folder and streams through; what is printed is the largest resident memory of this
process, measured by the kernel. 1,000 megabytes take some minutes.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from eyeline.models import Tokens
from eyeline.surveys import survey
from eyeline.surveys.looks import STRONGEST, Looks
from eyeline.surveys.scales import OFFSET_EDGES

#: The characters of a token.
WIDTH = 16


class EvenModel:
    """A `SurveyModel` of one layer and two heads, whose tokens are 16 characters each and look at all others evenly."""

    layers, heads, causal = 1, 2, False
    positions = longest = 512
    together = 4096

    def __init__(self):
        self.info = {
            "name": "even", "family": "made up", "layers": 1, "heads": 2, "causal": False, "positions": 512,
            "vocabulary_size": 1000, "sha256": "0" * 64, "source": "made up",
        }  # fmt: skip

    def tokens(self, text):
        """The text's tokens, between two special ones."""
        spans = [(first, min(first + WIDTH, len(text))) for first in range(0, len(text), WIDTH)]
        ids = [1, *(len(text) - first for first, _ in spans), 2]
        pieces = ["[CLS]", *(text[first:last] for first, last in spans), "[SEP]"]
        special = [True, *[False] * len(spans), True]
        return Tokens(text, ids, pieces, [(0, 0), *spans, (0, 0)], special)

    def induction(self):
        """Nothing."""

    def looks(self, windows, types, count):
        """Every token gives 1 / n to each of the n tokens of its window."""
        lengths = np.array([len(window) for window in windows])
        n = np.repeat(lengths, lengths)
        i = np.arange(len(n)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        left, right = i, n - 1 - i
        distance = (left * (left + 1) + right * (right + 1)) / (2 * n)
        edges = OFFSET_EDGES[:, None]
        offsets = np.clip(np.minimum(edges[1:] - 1, right) - np.maximum(edges[:-1], -left) + 1, 0, None) / n
        owner = np.repeat(np.arange(len(lengths)), lengths)
        to = np.zeros((len(lengths), count))
        np.add.at(to, (owner, types), 1)

        def both(numbers, dtype=np.float32):
            return np.broadcast_to(np.asarray(numbers, dtype), (2, *np.shape(numbers)))

        def strongest(heads, queries):
            keys = np.where(np.arange(STRONGEST) < n[queries, None], np.arange(STRONGEST), -1)
            return keys, np.where(keys >= 0, 1 / n[queries, None], 0).astype(np.float32)

        yield Looks(
            both(np.log(n)), both(distance), both(np.ones(len(n))), both(1 / n), both(np.zeros(len(n)), np.int64),
            both(to[owner] / n[:, None]), both(offsets.T), 0, strongest,
        )  # fmt: skip


def write_corpus(file: Path, megabytes: int) -> None:
    """Write a .jsonl file of this size: documents of 100 to 20,000 characters, one in 10,000 of a megabyte."""
    sentence = "time flies like an arrow, and fruit flies like a banana: 12 old men, the boat."
    random = np.random.default_rng(0)
    text = " ".join(random.choice(sentence.split(), 1 << 20))
    size = 0
    with file.open("w") as lines:
        while size < megabytes << 20:
            length = 1 << 20 if random.random() < 1e-4 else int(100 * 200 ** random.random())
            first = int(random.integers(0, len(text) - length))
            size += lines.write(json.dumps({"text": text[first : first + length]}) + "\n")


def main(megabytes: int) -> None:
    """Survey a corpus of this size, and print the peak of resident memory in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "corpus.jsonl"
        write_corpus(file, megabytes)
        begun = time.monotonic()
        found = survey(file, model=EvenModel(), out=Path(folder) / "survey")
        seconds = time.monotonic() - begun
    counts = found.info["counts"]
    # Not getrusage's, which counts the process that started this one too.
    peak = int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) // 1024
    print(
        f"{megabytes} MB, {counts['documents']:,} documents, {counts['tokens']:,} tokens, {counts['blocks']:,} blocks: "
        f"peak {peak:,} MB, {seconds:,.0f} s"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
