"""The benchmark of surveys, on texts so few that its times say nothing."""

from __future__ import annotations

import pytest

from bench import surveys, table

TEXTS = ["Time flies like an arrow; fruit flies like a banana.", "In the beginning was the word.", "Selah."]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(surveys.Workload, "texts", lambda self: TEXTS)
    monkeypatch.setattr(surveys, "_megabytes", lambda workload, side: 12)


def test_a_survey_and_the_peer_measure_the_same(few):
    workload = surveys.Workload("few documents", "minilm", 3, ("plain", "eager"), (0.85, 3.0), 2)
    row = surveys.measure(workload)
    assert (row["windows"], row["tokens"]) == (3, 28)
    assert row["difference"] < 1e-5
    assert set(row["tokens_per_second"]) == set(row["megabytes"]) == {"survey", "plain", "eager"}
    assert set(row["ratios"]) == {"plain", "eager"}
    assert "minutes" not in row


def test_a_hundredth_is_as_many_documents_as_make_its_windows(few, monkeypatch, tmp_path):
    monkeypatch.setattr(surveys, "WHOLE", 200)
    workload = surveys.Workload("a hundredth of 200 × 9", "minilm", 0, (), (), 1)
    corpus = surveys.Corpus(workload, tmp_path, surveys._model(workload))
    assert corpus.windows == len(corpus.path.read_text().splitlines()) == 2
    row = surveys.measure(workload)
    assert row["minutes"] == round(200 * surveys.TOKENS / row["tokens_per_second"]["survey"] / 60, 1)


def test_the_table_has_a_row_for_each_side():
    row = {
        "model": "minilm",
        "name": "a hundredth of 16,384 × 512",
        "windows": 1638,
        "tokens": 838_656,
        "tokens_per_second": {"survey": 9000, "plain": 10_000, "eager": 3000},
        "ratios": {"plain": 0.9, "eager": 3.0},
        "targets": {"plain": 0.95, "eager": 3.0},
        "megabytes": {"survey": 300, "plain": 200, "eager": 1500},
        "minutes": 31.4,
        "at_most": 30,
        "difference": 3e-7,
    }
    first, second = table.surveys_table([row]).splitlines()[4:]
    assert first == (
        "| MiniLM, a hundredth of 16,384 × 512; mean entropies differ by 3e-07 | 838,656, 1,638 | 9,000, 300 MB; "
        "the whole in 31 minutes | forward pass alone, same batches | 10,000, 200 MB | **0.90 ×** | 0.95 × |"
    )
    assert second == ("|  |  |  | transformers, eager, the same statistics | 3,000, 1,500 MB | **3.00 ×** | 3 × |")
    short, late = table.misses({"models": {}, "kernels": {}, "surveys": {"s": row}, "calls": {}, "memory": {}})
    assert short == (
        "a survey of MiniLM, a hundredth of 16,384 × 512, beside forward pass alone, same batches (0.90 of 0.95)"
    )
    assert late == "a survey of MiniLM, a hundredth of 16,384 × 512 (31 minutes, at most 30)"
    alone = table.surveys_table([row | {"ratios": {}}]).splitlines()[4]
    assert alone.endswith("| 9,000, 300 MB; the whole in 31 minutes |  |  |  |  |")
