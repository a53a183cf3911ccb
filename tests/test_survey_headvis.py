"""A survey as HeadVis' files: each field holds the survey's own number, and what its readers need is there."""

from __future__ import annotations

import json

import numpy as np
import pytest
from surveys import made_survey

from eyeline.surveys.errors import SurveyError
from eyeline.surveys.headvis import INTERVALS, METRICS, write_headvis
from eyeline.surveys.scales import OFFSET_EDGES

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return made_survey(tmp_path_factory.mktemp("made") / "survey", layers=2, heads=3, documents=20, examples=7)


@pytest.fixture(scope="module")
def folder(found, tmp_path_factory):
    return write_headvis(found, tmp_path_factory.mktemp("out") / "headvis", dataset="org/corpus", model_id="tiny-1")


def read(path):
    return json.loads(path.read_text("utf-8"))


def test_the_folder_has_the_files_of_a_page_without_a_server(folder):
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    heads = [f"heads/L{layer}H{head}.json" for layer in range(2) for head in range(3)]
    assert names == ["attributions/manifest.json", "config.json", *heads, "scatter_data.json", "server_config.json"]
    assert read(folder / "server_config.json") == read(folder / "attributions" / "manifest.json") == {}


def test_the_configuration_says_what_is_shown_and_where_it_came_from(found, folder):
    config = read(folder / "config.json")
    assert config["heads"] == [[layer, head] for layer in range(2) for head in range(3)]
    assert (config["n_layers"], config["n_heads"], config["n_intervals"]) == (2, 3, 5)
    assert config["metrics"] == list(config["metric_descriptions"]) == list(METRICS)
    assert config["metric_descriptions"]["pattern_entropy"].startswith("how broadly it looks, -Σ w ln w (Clark et al.")
    assert (config["has_umap"], config["umap_heads"]) == (False, [])
    assert config["head_data_pattern"] == "L{layer}H{head}.json"
    head = read(folder / "heads" / "L0H0.json")
    assert {plot["key"] for plot in config["custom_plots"] + config["custom_tables"]} < head.keys()
    assert config["statistics_display"].keys() == head["statistics"].keys()
    # What Neuronpedia's loaders need.
    pipeline = config["pipeline_config"]
    assert [pipeline[name] for name in ("model_name", "np_model_id", "dataset_name", "dtype")] == [
        "tiny",
        "tiny-1",
        "org/corpus",
        "float32",
    ]
    assert [pipeline[name] for name in ("n_sequences", "seq_len", "attn_implementation")] == [20, 512, "eyeline"]
    assert pipeline["survey"]["counts"] == found.info["counts"]


def test_each_heads_measures_are_the_surveys(found, folder):
    rows, heads = read(folder / "scatter_data.json"), found.heads(arrow=True).to_pylist()
    assert len(rows) == len(heads) == 6
    for row, head in zip(rows, heads, strict=True):
        assert (row["layer"], row["head"]) == (head["layer"], head["head"])
        for theirs, ours in METRICS.items():
            assert row[theirs] == pytest.approx(head[ours], abs=5e-5)
        assert row["qk_distance_variance"] is None


def test_each_example_is_a_sequence_with_one_row_of_weights(found, folder):
    for layer, head in np.ndindex(2, 3):
        examples = found.examples(layer, head, arrow=True).to_pylist()
        sequences = read(folder / "heads" / f"L{layer}H{head}.json")["sequences"]
        assert len(sequences) == len(examples) == 14
        assert len({sequence["sequence_id"] for sequence in sequences}) == 14
        for sequence, example in zip(sequences, examples, strict=True):
            n, tokens = sequence["seq_len"], sequence["tokens"]
            assert n == len(tokens)
            shown = dict(zip(example["positions"], example["tokens"], strict=True))
            wanted = sorted(
                (shown[position], round(weight, 4))
                for position, weight in zip(example["positions"], example["weights"], strict=True)
                if weight > 0
            )
            places = sequence["attention_indices"]
            assert places == sorted(places)
            assert {tokens[place // n] for place in places} == {shown[example["query"]]}
            values = sequence["attention_values"]
            assert sorted((tokens[place % n], w) for place, w in zip(places, values, strict=True)) == wanted
            assert sequence["max_activation"] == pytest.approx(example["weight"], abs=5e-5)
            if example["sort"] == "largest":
                assert sequence["interval"] == INTERVALS
            assert 1 <= sequence["interval"] <= INTERVALS


def test_text_that_is_left_out_is_one_token():
    from eyeline.surveys.headvis import _sequence

    example = {
        "sort": "sample",
        "tokens": ["[CLS]", " a", " b", " c"],
        "positions": [0, 7, 8, 9],
        "weights": [0.25, 0.0, 0.0, 0.5],
        "query": 8,
        "weight": 0.5,
    }
    sequence = _sequence(3, example, [0.1, 0.2, 0.5, 0.7])
    assert sequence == {
        "sequence_id": 3,
        "interval": 4,
        "tokens": ["[CLS]", "…", " a", " b", " c"],
        "attention_indices": [3 * 5 + 0, 3 * 5 + 4],
        "attention_values": [0.25, 0.5],
        "seq_len": 5,
        "max_activation": 0.5,
    }


def test_intervals_are_fifths_of_the_heads_looks():
    from eyeline.surveys.headvis import _bounds

    np.testing.assert_allclose(_bounds([0.05] * 20), [0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(_bounds([0.0, 1.0, *[0.0] * 18]), [0.06, 0.07, 0.08, 0.09])
    assert _bounds([0.0] * 20) == [1.0] * 4


def test_distributions_are_of_the_whole_corpus(found, folder):
    for head in found.heads(arrow=True).to_pylist():
        file = read(folder / "heads" / f"L{head['layer']}H{head['head']}.json")
        distances, offsets = file["qk_distance_histogram"], np.array(head["offsets"])
        edges, values = distances["bin_edges"], distances["bin_values"]
        assert edges[:4] == [0, 1, 2, 4]
        assert len(edges) == len(values) + 1
        nearest = np.minimum(abs(OFFSET_EDGES[:-1]), abs(OFFSET_EDGES[1:] - 1))
        for edge, value in zip(edges, values, strict=False):
            assert value == pytest.approx(offsets[nearest == edge].sum(), abs=5e-5)
        assert sum(values) == pytest.approx(1, abs=1e-3)
        assert file["histogram"]["bin_values"] == pytest.approx(head["largest"], abs=5e-5)
        assert len(file["histogram"]["bin_edges"]) == 21
        assert file["statistics"] == {"n_samples": 14, "kind": head["kind"]}


def test_listed_tokens_add_up_to_the_sequences_weights(folder):
    file = read(folder / "heads" / "L1H2.json")
    total = sum(sum(sequence["attention_values"]) for sequence in file["sequences"])
    for name in ("top_query_tokens", "top_key_tokens"):
        weights = [entry["weight"] for entry in file[name]]
        assert weights == sorted(weights, reverse=True)
        assert 0 < len(weights) <= 50
        if len(weights) < 50:
            assert sum(weights) == pytest.approx(total, abs=1e-2)


def test_a_folder_is_never_overwritten_or_left_half_written(found, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep me")
    with pytest.raises(SurveyError, match=r"folder must be new or empty, got .*full; give another folder"):
        write_headvis(found, tmp_path / "full")
    running = made_survey(tmp_path / "running", layers=1, heads=1, documents=6, state="running")
    with pytest.raises(SurveyError, match="isn't complete"):
        write_headvis(running, tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "running"]
    (tmp_path / "empty").mkdir()
    assert (write_headvis(found, tmp_path / "empty") / "config.json").is_file()
