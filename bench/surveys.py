"""Surveys of a corpus beside the plain forward pass over the same packed batches, and beside transformers' eager
attention with the same statistics from its matrices.

The corpus is the King James Bible, in the public domain, as examples/corpora.py takes it from the package pybible
0.0.2: its chapters, and as many single verses as make 2,000 documents. Sides take turns in one process; the memory of
each is that of a process of its own, as Linux counts it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import THREADS
from bench.peers.eager_survey import eager
from examples import corpora
from eyeline.bench.turns import back_to_back, times_as_long
from eyeline.models import load
from eyeline.models.decoder import Decoder
from eyeline.models.packing import PackedTexts
from eyeline.surveys import survey
from eyeline.surveys.arguments import chosen_settings
from eyeline.surveys.batches import batches
from eyeline.surveys.document import Document
from eyeline.surveys.own_model import OwnSurveyModel
from eyeline.surveys.readers import survey_model
from eyeline.surveys.token_types import TokenTypes
from eyeline.surveys.windows import TextWindow, windows_of

DOCUMENTS = 2000
#: A large workload: so many windows of so many tokens.
WHOLE, TOKENS = 16_384, 512
#: In how many minutes it is to be done, by extrapolation.
MINUTES = 30
#: The memory of the peer's matrices, with which it is about as large as a survey.
PEER_MEGABYTES = 256
Side = Callable[[], Any]


@dataclass(frozen=True)
class Workload:
    """A survey's work.

    Attributes:
        name: what it is, in the table.
        model: its name in the catalogue.
        documents: how many of the 2,000 documents; or 0: whole books, as many as make a hundredth of `WHOLE` windows.
        sides: what is timed, beside "survey": "plain", "eager".
        targets: for each of these sides, the least ratio of its time to the survey's that we aim at.
        turns: how often each side is timed.
    """

    name: str
    model: str
    documents: int
    sides: tuple[str, ...]
    targets: tuple[float, ...]
    turns: int

    @property
    def label(self) -> str:
        """The name, which no other workload has."""
        return f"survey, {self.name}"

    def texts(self) -> list[str]:
        """The documents."""
        verses = corpora.verses()
        if not self.documents:
            books = groupby(verses, lambda named: named[0].partition(":")[0])
            return ["\n".join(text for _, text in some) for _, some in books]
        chapters = corpora.chapters(verses)
        every = [*chapters, *corpora.chosen(verses, DOCUMENTS - len(chapters))]
        return [text for _, text in every[:: DOCUMENTS // self.documents]]


WORKLOADS = [
    Workload("200 of 2,000 documents", "minilm", 200, ("plain", "eager"), (0.85, 3.0), 3),
    Workload("40 of 2,000 documents", "smollm2", 40, ("plain",), (0.8,), 2),
    Workload(f"a hundredth of {WHOLE:,} × {TOKENS}", "minilm", 0, (), (), 2),
]


class Corpus:
    """A workload's documents, as a file and as the batches that a survey makes of them.

    Attributes:
        path: the file, JSONL.
        batches: the windows of each batch.
        types: the number of types of tokens.
        windows, tokens: how many windows and tokens the model reads.
    """

    def __init__(self, workload: Workload, folder: Path, model: OwnSurveyModel) -> None:
        settings = chosen_settings(model.positions, model.longest, None, None, None, 16, None)
        types, windows, lines = TokenTypes(None), list[TextWindow](), list[str]()
        for number, text in enumerate(workload.texts()):
            document = Document(number, "", number, text)
            windows += windows_of(document, model.tokens, settings, model.causal, types)
            lines.append(json.dumps({"text": text}) + "\n")
            if not workload.documents and len(windows) >= WHOLE // 100:
                break
        self.path = folder / "corpus.jsonl"
        self.path.write_text("".join(lines))
        self.batches = [batch.windows for batch in batches(windows, types.names, model.together)]
        self.types = len(types.names)
        self.windows, self.tokens = len(windows), sum(map(len, windows))


def sides_of(workload: Workload, corpus: Corpus, names: Sequence[str]) -> dict[str, Side]:
    """The sides of these names, each a function that does all of its work once."""
    folder, number, model = corpus.path.parent, count(), load(workload.model)

    def surveyed() -> Any:
        return survey(corpus.path, model=workload.model, out=folder / f"survey {next(number)}")

    def plain() -> None:
        network = model.network
        for batch in corpus.batches:
            packed = PackedTexts([window.ids for window in batch])
            if isinstance(network, Decoder):
                layers = network.layers(network.embed(packed.ids), packed.mask, None, positions=packed.positions)
            else:
                layers = network.in_place(network.embed(packed.ids, packed.positions), packed.mask, None)
            for _ in layers:
                pass

    sides: dict[str, Side] = {"survey": surveyed, "plain": plain}
    if "eager" in names:
        run = eager(model.source, THREADS, corpus.types, PEER_MEGABYTES)
        sides["eager"] = lambda: run([window for batch in corpus.batches for window in batch])
    return {name: sides[name] for name in names}


def measure(workload: Workload) -> dict[str, Any]:
    """One workload's entry of the results file."""
    model, names = _model(workload), ("survey", *workload.sides)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(workload, Path(folder), model)
        sides = sides_of(workload, corpus, names)
        # The first call loads; a single turn is so long that this counts for nothing.
        found = {name: side() for name, side in sides.items()} if workload.turns > 1 else {}
        seconds = back_to_back(sides, workload.turns)
        difference = _difference(found["survey"], found["eager"]) if "eager" in found else None
    rates = {name: round(corpus.tokens / statistics.median(times)) for name, times in seconds.items()}
    row = {
        "model": workload.model,
        "name": workload.name,
        "windows": corpus.windows,
        "tokens": corpus.tokens,
        "tokens_per_second": rates,
        "ratios": {name: round(times_as_long(seconds[name], seconds["survey"]), 3) for name in workload.sides},
        "targets": dict(zip(workload.sides, workload.targets, strict=True)),
        "megabytes": {name: _megabytes(workload, name) for name in names},
    }
    if difference is not None:
        row["difference"] = float(f"{difference:.1e}")
    if not workload.documents:
        row |= {"minutes": round(WHOLE * TOKENS / rates["survey"] / 60, 1), "at_most": MINUTES}
    return row


def _model(workload: Workload) -> OwnSurveyModel:
    model = survey_model(workload.model)
    assert isinstance(model, OwnSurveyModel)
    return model


def _difference(ours: Any, theirs: Any) -> float:
    """The largest difference of a head's mean entropy, in nats."""
    mean = (theirs.entropy / theirs.tokens).numpy().ravel()
    return float(np.abs(ours.heads()["entropy"].to_numpy() - mean).max())


def _megabytes(workload: Workload, side: str) -> int:
    """The peak memory of one side in a process of its own."""
    command = [sys.executable, "-m", "bench.surveys", str(WORKLOADS.index(workload)), side]
    environment = {**os.environ, "EYELINE_THREADS": str(THREADS)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return int(done.stdout.split()[-1])


def main(number: str, side: str) -> None:
    """Do one side's work once, and print the process's peak memory in MB."""
    workload = WORKLOADS[int(number)]
    model = _model(workload)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(workload, Path(folder), model)
        sides_of(workload, corpus, [side])[side]()
    # Not getrusage's, which begins at the size of the process that started this one.
    (peak,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    print(round(int(peak.split()[1]) / 1000))


if __name__ == "__main__":
    main(*sys.argv[1:])
