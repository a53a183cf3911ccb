"""Made-up surveys: the files of a survey by the real writers, of numbers that no model gave."""

from __future__ import annotations

import hashlib

import numpy as np

from eyeline.surveys.about import with_merged
from eyeline.surveys.document import Skipped
from eyeline.surveys.folder import SurveyFolder
from eyeline.surveys.loading import Survey, load_survey
from eyeline.surveys.merging import merge
from eyeline.surveys.parts import read_part, write_part
from eyeline.surveys.scales import ENTROPY_EDGES, LARGEST_EDGES, OFFSET_EDGES
from eyeline.surveys.settings import Settings
from eyeline.surveys.table_files import FORMAT, scales, write_tables
from eyeline.surveys.tally import MEASURES, BlockTally, DocumentTally, Example, GroupTally

SENTENCES = (
    "Time flies like an arrow; fruit flies like a banana.",
    "The old man the boat, and nobody asked them why.",
    "In 1905 she wrote: “Nothing is lost.” It was true.",
    "def area(width, height): return width * height",
    "Cậu bé nhìn con mèo, và con mèo nhìn cậu bé.",
    "unbelievably, the re-entry went well <b>again</b> & again.",
)
TYPES = ("first", "special", "punctuation", "digits", "capital", "piece", "word", "other")


def made_survey(
    folder, *, model="tiny", layers=6, heads=12, documents=50, examples=16, seed=0, blocks=3, causal=False, state=None
) -> Survey:
    """Write a survey's folder of made-up numbers and sentences; the same arguments give the same bytes.

    Args:
        folder: where; it is made.
        examples: how many of the largest, and how many of the sample, each head has.
        blocks: how many parts there are.
        state: "running" leaves the last block unmeasured and the tables unwritten.
    """
    place = SurveyFolder(folder)
    random = np.random.default_rng(seed)
    info = about(model, layers, heads, documents, examples, blocks, causal, random)
    place.write_about(info | {"state": "running"})
    cuts = np.linspace(0, documents, blocks + 1).astype(int)
    parts = []
    for number in range(blocks - (state == "running")):
        tally = made_tally(random, layers, heads, range(cuts[number], cuts[number + 1]), examples, causal)
        parts.append(write_part(tally, f"fingerprint {number}", number))
        place.write(place.part(number), parts[-1])
    if state == "running":
        info["counts"]["blocks_done"] = len(parts)
        place.write_about(info | {"state": "running"})
        return load_survey(folder)
    merged = merge((read_part(part) for part in parts), info)
    write_tables(place, merged)
    place.write_about(with_merged(info, merged))
    return load_survey(folder)


def about(model, layers, heads, documents, examples, blocks, causal, random):
    """survey.json, before the parts are merged."""
    settings = Settings(512, 64, largest=examples, sample=examples)
    scores = random.beta(0.4, 4, (layers, heads))
    file = {"path": "corpus/sentences.jsonl", "size": 4096, "sha256": "0" * 64, "documents": documents}
    return {
        "format": FORMAT,
        "eyeline": "0.0",
        "model": {
            "name": model, "family": "bert", "layers": layers, "heads": heads, "causal": causal, "positions": 512,
            "vocabulary_size": 30522, "sha256": hashlib.sha256(model.encode()).hexdigest(), "source": f"folder {model}",
        },
        "corpus": {"files": [file], "column": "text", "documents": documents, "characters": 50 * documents},
        "settings": settings.as_json(),
        "scales": scales(TYPES),
        "labels": {"kinds": [], "measures": [], "sink_tokens": 64},
        "machine": {"processor": "made up", "vector_bits": 256, "threads": 2},
        "versions": {"numpy": "2.0.0", "tokenizers": "0.20.0", "pyarrow": "17.0.0"},
        "counts": {
            "blocks": blocks, "blocks_done": 0, "documents": 0, "tokens": 0, "text_tokens": 0, "windows": 0,
            "workers_lost": 0,
        },
        "skipped": {"counts": {}, "first": []},
        "induction": {"length": 50, "draws": 4, "scores": scores.tolist()},
        "state": "running",
        "seconds": 12.5,
    }  # fmt: skip


def made_tally(random, layers, heads, numbers, examples=16, causal=False) -> BlockTally:
    """The tally of a block: the documents of these numbers. Each head keeps to a character of its own in all blocks."""
    numbers = list(numbers)
    shape = (layers, heads)
    own = np.random.default_rng(layers * 1000 + heads)  # the heads' characters
    ranges = len(OFFSET_EDGES) - 1
    near = np.flatnonzero(np.abs(OFFSET_EDGES[:-1]) <= 64)
    if causal:
        near = near[OFFSET_EDGES[near] <= 0]
    shares = np.zeros((*shape, ranges))
    shares[..., near] = own.dirichlet(np.full(len(near), 0.12), shape)
    towards = own.dirichlet(np.full(len(TYPES), 0.3), shape)
    broad = own.uniform(0.2, 4.2, shape)
    far = (shares * np.abs(OFFSET_EDGES[:-1])).sum(-1)
    lengths = random.integers(20, 90, len(numbers))
    tokens = int(lengths.sum())
    counted = {
        "entropies": np.clip(random.normal(broad[..., None], 0.5, (*shape, tokens)), 0, 11.9),
        "largest": np.clip(random.normal(np.exp(-broad)[..., None], 0.15, (*shape, tokens)), 0, 0.999),
    }
    edges = {"entropies": ENTROPY_EDGES, "largest": LARGEST_EDGES}
    histograms = {name: _histogram(values, edges[name]) for name, values in counted.items()}
    groups = {}
    for (name, at), count in made_counts(random, len(numbers), tokens).items():
        noise = random.uniform(0.8, 1.2, shape)
        to = {other: count * towards[..., n] for n, other in enumerate(TYPES)}
        received = count * towards[..., TYPES.index(name)] * len(TYPES)
        groups[name, at] = GroupTally(count, count * broad * noise, count * far * noise, received, to)
    by = {
        "entropy": broad, "distance": far, "previous": shares[..., near[OFFSET_EDGES[near] == -1]][..., 0],
        "next": shares[..., OFFSET_EDGES[:-1] == 1][..., 0], "same": shares[..., OFFSET_EDGES[:-1] == 0][..., 0],
        "first": towards[..., 0], "special": towards[..., 0] + towards[..., 1], "separator": towards[..., 1],
        "punctuation": towards[..., 2], "sink": towards[..., 0],
    }  # fmt: skip
    assert set(by) == set(MEASURES)
    entries = []
    for number, length in zip(numbers, lengths.tolist(), strict=True):
        measures = {name: (by[name] * random.uniform(0.8, 1.2, shape)).astype(np.float32) for name in MEASURES}
        if number % 7 == 3:
            measures["punctuation"][:] = np.nan
        entries.append(DocumentTally(number, "corpus/sentences.jsonl", number, 5 * length, length, 1, measures))
    return BlockTally(
        tokens, tokens - 2 * len(numbers), entries, tokens * broad, tokens * far, tokens * (broad**2 + 0.25),
        tokens * shares, **histograms, special=tokens * by["special"], groups=groups,
        examples=made_examples(random, layers, heads, numbers, examples),
        skipped=[Skipped("corpus/sentences.jsonl", one + 1, "empty", "there is no text") for one in numbers[:1]],
    )  # fmt: skip


def made_counts(random, documents, tokens) -> dict[tuple[str, int], int]:
    """How many tokens there are of each type and range of positions: a first and a last one in each document."""
    if not documents:
        return {}
    keys = [(name, at) for name in TYPES[2:] for at in range(1, 7)]
    counts = random.multinomial(tokens - 2 * documents, random.dirichlet(np.ones(len(keys)))).tolist()
    found = {("first", 0): documents, ("special", 6): documents}
    return found | {key: count for key, count in zip(keys, counts, strict=True) if count}


def made_examples(random, layers, heads, numbers, count) -> list[Example]:
    """Looks of made-up sentences: of each head the largest, and the same sampled tokens in every head."""
    if not len(numbers):
        return []
    found = []
    hashes = random.integers(0, 2**63, count, dtype=np.uint64)
    for layer, head in np.ndindex(layers, heads):
        for sort in ("largest", "sample"):
            for n in range(count):
                number = int(numbers[n % len(numbers)])
                order = int(hashes[n]) if sort == "sample" else int(random.integers(0, 2**63))
                found.append(made_example(random, layer, head, sort, order, number, n))
    return found


def made_example(random, layer, head, sort, order, number, n) -> Example:
    text = SENTENCES[(number + n) % len(SENTENCES)]
    words = text.split(" ")
    tokens = ["[CLS]", words[0], *(f" {word}" for word in words[1:]), "[SEP]"]
    query = int((n * 7 + number) % len(tokens))
    weights = random.dirichlet(np.full(len(tokens), 0.2 if sort == "largest" else 1)).astype(np.float32)
    weights[np.argsort(-weights, kind="stable")[8:]] = 0
    key = int(weights.argmax())
    return Example(
        layer, head, sort, order, float(weights[key]), number, "corpus/sentences.jsonl", number, 0, query, key,
        tuple(tokens), tuple(range(len(tokens))), tuple(weights.tolist()),
        tuple(one in (0, len(tokens) - 1) for one in range(len(tokens))),
    )  # fmt: skip


def _histogram(values, edges):
    """How many of the last axis lie in each range."""
    rows = (values[at] for at in np.ndindex(values.shape[:-1]))
    counts = [np.histogram(row, edges)[0] for row in rows]
    return np.array(counts, np.int64).reshape(*values.shape[:-1], -1)
