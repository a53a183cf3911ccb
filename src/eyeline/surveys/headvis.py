"""A survey in the files that HeadVis reads.

HeadVis is a page that shows attention heads: Luger, Kamath et al., "HeadVis: An Interactive Tool for Investigating
Attention Heads" (2026). It reads a folder of JSON files. Their fields are described by Neuronpedia's public pipeline,
which writes such folders and reads them into its database; docs/surveys.md says what each of them holds here.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from eyeline.surveys.errors import SurveyError
from eyeline.surveys.loading import Survey
from eyeline.surveys.scales import LARGEST_EDGES, OFFSET_EDGES
from eyeline.version import VERSION
from eyeline.words import system_message, worded

#: HeadVis' name of each measure, and ours. Its variance of the distance isn't measured.
METRICS = {
    "self_attention_score": "same",
    "prev_token_score": "previous",
    "pattern_entropy": "entropy",
    "qk_distance": "distance",
    "induction_score": "induction",
    "next_token_score": "next",
    "first_token_score": "first",
    "sink_score": "sink",
    "special_token_score": "special",
    "separator_score": "separator",
    "punctuation_score": "punctuation",
}
_UNMEASURED = "qk_distance_variance"
#: The fifths of a head's looks by their largest weight, 1 for the smallest.
INTERVALS = 5
#: How many of the strongest tokens are listed.
_LISTED = 50
_GAP = "…"


def write_headvis(
    survey: Survey, folder: str | os.PathLike[str], *, dataset: str | None = None, model_id: str | None = None
) -> Path:
    """Write a survey as a folder of the JSON files that HeadVis reads.

    Args:
        survey: a complete survey.
        folder: where; it must not exist, or be empty.
        dataset: the name of the corpus; by default its first file's.
        model_id: the model's name in Neuronpedia; by default the last part of the survey's.

    Returns:
        The folder.

    Raises:
        SurveyError: if the survey isn't complete, or the folder can't be written or isn't empty.

    >>> import tempfile
    >>> from eyeline.surveys import survey
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = survey(["Time flies like an arrow."], out=f"{place}/survey")
    ...     written = write_headvis(found, f"{place}/headvis")
    ...     sorted(path.name for path in written.iterdir())
    ['attributions', 'config.json', 'heads', 'scatter_data.json', 'server_config.json']
    """
    path = Path(os.path.expanduser(os.fspath(folder)))
    heads = survey.heads(arrow=True).to_pylist()
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise SurveyError(
                worded("folder must be new or empty, got {folder}; give another folder", folder=os.fspath(folder))
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside it and renamed, so that there is never half a folder.
        beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.tmp-", dir=path.parent))
        try:
            _write(survey, heads, beside, dataset, model_id)
            beside.chmod(0o755)
            os.replace(beside, path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise SurveyError(
            worded("{folder} can't be written: {reason}", folder=os.fspath(folder), reason=system_message(error))
        ) from None
    return path


def _write(
    survey: Survey, heads: Sequence[Mapping[str, Any]], folder: Path, dataset: str | None, model_id: str | None
) -> None:
    (folder / "heads").mkdir()
    (folder / "attributions").mkdir()
    _dump(folder / "config.json", _config(survey, heads, dataset, model_id))
    _dump(folder / "scatter_data.json", [_scatter(head) for head in heads])
    _dump(folder / "server_config.json", {})  # no server
    _dump(folder / "attributions" / "manifest.json", {})
    for head in heads:
        layer, number = head["layer"], head["head"]
        examples = survey.examples(layer, number, arrow=True).to_pylist()
        _dump(folder / "heads" / f"L{layer}H{number}.json", _head(head, examples))


def _config(
    survey: Survey, heads: Sequence[Mapping[str, Any]], dataset: str | None, model_id: str | None
) -> dict[str, Any]:
    info = survey.info
    files = info["corpus"].get("files") or [{"path": ""}]
    meanings = {
        measure["name"]: f"{measure['meaning']} ({measure['source']})" for measure in info["labels"]["measures"]
    }
    common = {
        "model_name": survey.model.name,
        "np_model_id": model_id or Path(survey.model.name).name,
        "dataset_name": dataset or Path(files[0]["path"]).name or "texts",
    }
    return {
        **common,
        "heads": [[head["layer"], head["head"]] for head in heads],
        "n_layers": survey.model.layers,
        "n_heads": survey.model.heads,
        "n_intervals": INTERVALS,
        "metrics": list(METRICS),
        "metric_descriptions": {theirs: meanings.get(ours, ours) for theirs, ours in METRICS.items()},
        "head_data_pattern": "L{layer}H{head}.json",
        "has_umap": False,
        "umap_heads": [],
        "custom_plots": [
            {"key": "qk_distance_histogram", "label": "Weight by distance"},
            {"key": "histogram", "label": "Tokens by largest weight"},
        ],
        "custom_tables": [
            {"key": "top_query_tokens", "label": "Tokens that look, in the examples"},
            {"key": "top_key_tokens", "label": "Tokens looked at, in the examples"},
        ],
        "statistics_display": {
            "n_samples": {"label": "Examples", "format": "default"},
            "kind": {"label": "Kind", "format": "default"},
        },
        "pipeline_config": {
            **common,
            "n_sequences": info["counts"]["documents"],
            "seq_len": info["settings"]["window"],
            "dtype": "float32",
            "attn_implementation": "eyeline",
            "eyeline": VERSION,
            "num_hidden_layers": survey.model.layers,
            "num_attention_heads": survey.model.heads,
            "survey": {name: info[name] for name in ("model", "corpus", "settings", "counts")},
        },
    }


def _scatter(head: Mapping[str, Any]) -> dict[str, Any]:
    row = {"layer": head["layer"], "head": head["head"]}
    return row | {theirs: _number(head[ours]) for theirs, ours in METRICS.items()} | {_UNMEASURED: None}


def _head(head: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A head's file."""
    bounds = _bounds(head["largest"])
    sequences = [_sequence(number, example, bounds) for number, example in enumerate(examples)]
    queries: Counter[str] = Counter()
    keys: Counter[str] = Counter()
    for sequence in sequences:
        tokens, n = sequence["tokens"], sequence["seq_len"]
        for place, weight in zip(sequence["attention_indices"], sequence["attention_values"], strict=True):
            queries[tokens[place // n]] += weight
            keys[tokens[place % n]] += weight
    return {
        "sequences": sequences,
        "qk_distance_histogram": _by_distance(head["offsets"]),
        "top_query_tokens": _listed(queries),
        "top_key_tokens": _listed(keys),
        "histogram": {
            "bin_edges": [round(edge, 4) for edge in LARGEST_EDGES.tolist()],
            "bin_values": [_number(share) for share in head["largest"]],
        },
        "statistics": {"n_samples": len(sequences), "kind": head["kind"]},
    }


def _sequence(number: int, example: Mapping[str, Any], bounds: Sequence[float]) -> dict[str, Any]:
    """An example as a text of its own: its context, and one row of weights. Text that is left out is one token."""
    tokens: list[str] = []
    places: dict[int, int] = {}
    for text, position in zip(example["tokens"], example["positions"], strict=True):
        if places and position - 1 not in places:
            tokens.append(_GAP)
        places[position] = len(tokens)
        tokens.append(text)
    query = places[example["query"]]
    strongest = [
        (query * len(tokens) + places[position], round(weight, 4))
        for position, weight in zip(example["positions"], example["weights"], strict=True)
        if weight > 0
    ]
    return {
        "sequence_id": number,
        "interval": INTERVALS if example["sort"] == "largest" else 1 + sum(example["weight"] >= b for b in bounds),
        "tokens": tokens,
        "attention_indices": [place for place, _ in strongest],
        "attention_values": [weight for _, weight in strongest],
        "seq_len": len(tokens),
        "max_activation": _number(example["weight"]),
    }


def _bounds(shares: Sequence[float]) -> list[float]:
    """The largest weights below which a fifth, two fifths … of a head's looks are, by its histogram."""
    edges = LARGEST_EDGES.tolist()
    bounds, below = [], 0.0
    wanted = [part / INTERVALS * sum(shares) for part in range(1, INTERVALS)]
    for share, (low, high) in zip(shares, pairwise(edges), strict=True):
        while wanted and share > 0 and below + share >= wanted[0]:
            bounds.append(low + (high - low) * (wanted.pop(0) - below) / share)
        below += share
    return bounds + [edges[-1]] * len(wanted)


def _by_distance(offsets: Sequence[float]) -> dict[str, list[Any]]:
    """The weight by |j - i|: that of the ranges on either side of 0 together."""
    weights: defaultdict[int, float] = defaultdict(float)
    for share, (low, high) in zip(offsets, pairwise(OFFSET_EDGES.tolist()), strict=True):
        weights[min(abs(low), abs(high - 1))] += share
    edges = sorted(weights)
    last = max((edge for edge in edges if weights[edge] > 0), default=0)
    shown = [edge for edge in edges if edge <= last]
    return {
        "bin_edges": [*shown, max(1, 2 * last)],
        "bin_values": [_number(weights[edge]) for edge in shown],
    }


def _listed(weights: Counter[str]) -> list[dict[str, Any]]:
    """The tokens of the largest sums; of equal ones, the first by its letters."""
    ranked = sorted(weights.items(), key=lambda entry: (-entry[1], entry[0]))[:_LISTED]
    return [{"token": token, "weight": _number(weight)} for token, weight in ranked]


def _number(value: float | None) -> float | None:
    """Four decimals, as HeadVis' other files have; None where there is no number."""
    return None if value is None or not math.isfinite(value) else round(float(value), 4)


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
