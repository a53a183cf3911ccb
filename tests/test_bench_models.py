"""The benchmark of whole models, on models so small that its times say nothing; its file, and what the README says."""

from __future__ import annotations

import contextlib
import json

import pytest
import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import eyeline as el
from bench import small_calls, table, whole_models
from bench.results_file import ResultsFile
from tests.hugging import bert, llama


def both(make):
    """A model twice, on `sdpa` and on `eyeline`."""
    models = {name: make() for name in ("sdpa", "eyeline")}
    models["eyeline"].load_state_dict(models["sdpa"].state_dict())
    for name, model in models.items():
        model.set_attn_implementation(name)
        model.eval()
    return models


@pytest.mark.parametrize(("make", "new", "passes"), [(bert, 0, 1), (llama, 0, 1), (llama, 3, 3)])
def test_whole_models_take_turns_and_answer_alike(monkeypatch, make, new, passes):
    models, called = both(make), []
    for name, model in models.items():
        model.register_forward_pre_hook(lambda *_, name=name: called.append(name))
    entered = []
    watch = el.watch
    monkeypatch.setattr(el, "watch", lambda model, read: entered.append(read) or watch(model, read))
    inputs = whole_models.Workload("", 2, 7, 1.0, 1, padded_from=4).inputs()
    inputs["input_ids"] %= 50
    found = whole_models.compare(models, inputs, new, turns=2)
    sdpa, eyeline = ["sdpa"] * passes, ["eyeline"] * 2 * passes  # on eyeline unwatched and watched
    loading = ["sdpa", "eyeline", "eyeline"]
    assert called == [*loading, *sdpa, *eyeline, *eyeline, *sdpa]
    assert entered == [whole_models.READ] * 3
    assert found["difference"] < 1e-5 < found["largest"]
    assert set(found["milliseconds"]) == {"sdpa", "eyeline", "watched"}
    assert 0 < found["attention_share"] < 1
    assert all(found[name] > 0 for name in ("ratio", "watched_ratio", "attention_ratio"))


def test_what_padding_holds_does_not_count():
    """On `sdpa`, padding looks at the real tokens; on `eyeline` it looks at nothing."""
    inputs = {"input_ids": torch.ones((2, 6), dtype=torch.long), "attention_mask": torch.ones((2, 6), dtype=torch.long)}
    inputs["attention_mask"][0, 3:] = 0
    assert whole_models.compare(both(bert), inputs, 0, turns=1)["difference"] < 1e-5


def test_models_get_their_own_attention_back():
    before = ALL_ATTENTION_FUNCTIONS["sdpa"]
    q = torch.ones(1, 1, 2, 4)
    with whole_models.attention_timed("sdpa") as spent:
        assert ALL_ATTENTION_FUNCTIONS["sdpa"] is not before
        output, _ = ALL_ATTENTION_FUNCTIONS["sdpa"](torch.nn.Identity(), q, q, q, None)
        assert output.shape == (1, 2, 1, 4)
        assert spent[0] > 0
    assert ALL_ATTENTION_FUNCTIONS["sdpa"] is before
    with contextlib.suppress(KeyboardInterrupt), whole_models.attention_timed("sdpa"):
        raise KeyboardInterrupt
    assert ALL_ATTENTION_FUNCTIONS["sdpa"] is before


def test_a_workloads_texts_are_as_long_as_it_says():
    workload = whole_models.Workload("minilm", 3, 9, 1.0, 1, padded_from=5)
    inputs = workload.inputs()
    assert workload.sizes == "3 × 9, padded from 5"
    assert inputs["attention_mask"].sum(1).tolist() == [5, 7, 9]
    assert inputs["attention_mask"][0].tolist() == [1] * 5 + [0] * 4
    assert torch.equal(inputs["input_ids"], workload.inputs()["input_ids"])


@pytest.mark.parametrize("given", small_calls.TARGETS)
def test_a_small_call_is_measured_warm_and_cold(given):
    found = small_calls.measure(given, calls=10)
    assert found["warm"] > 0
    assert found["cold"] > 0


def test_results_are_kept_row_by_row(tmp_path):
    path = tmp_path / "results" / "some-512.json"
    file = ResultsFile(path, {"threads": 2})
    assert not path.parent.exists()
    file.put("kernels", "b", {"x": 1}, ["a", "b"])
    file.put("models", "m", {"x": 2}, ["m"])
    again = ResultsFile(path, {"threads": 3})
    assert (again.has("kernels", "b"), again.has("kernels", "a")) == (True, False)
    again.put("kernels", "a", {"x": 3}, ["a", "b"])
    found = json.loads(path.read_text())
    assert found == {
        "threads": 3,
        "kernels": {"a": {"x": 3}, "b": {"x": 1}},
        "models": {"m": {"x": 2}},
        "calls": {},
        "memory": {},
        "surveys": {},
    }
    assert list(found["kernels"]) == ["a", "b"]  # in the table's order
    again.put("kernels", "c", {"x": 4}, ["c"])  # a and b are cases no longer
    assert json.loads(path.read_text())["kernels"] == {"c": {"x": 4}}
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_with_nowhere_to_keep_them_results_are_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ResultsFile(None, {}).put("kernels", "a", {}, ["a"])
    assert list(tmp_path.iterdir()) == []


def result(model_ratio=1.2, kernel_ratio=1.5, watched_ratio=1.05, microseconds=8.0, megabytes=3.0):
    """A machine's results: a case and a model."""
    side = {
        "way": "torch",
        "milliseconds": {"in_a_model": 2.0, "alone": 3.0},
        "errors": {"output": {"rms": 1e-8, "largest": 1e-7}},
    }
    peer = {
        "name": table.SDPA,
        "beside": "Eyeline on tensors",
        **side,
        "ratio": {"in_a_model": kernel_ratio, "alone": 7.25},
        "target": 1.4,
    }
    model = {
        "model": "minilm",
        "sizes": "8 × 128",
        "milliseconds": {"sdpa": 120.0, "eyeline": 100.0, "watched": 105.0},
        "ratio": model_ratio,
        "watched_ratio": watched_ratio,
        "attention_share": 0.2,
        "attention_ratio": 2.0,
        "difference": 2e-6,
        "largest": 6.0,
        "target": 1.1,
        "watched_at_most": 1.1,
    }
    return {
        "processor": "some",
        "vector_bits": 512,
        "threads": 2,
        "peak_gigaflops": 100.0,
        "versions": {"torch": "2.13.0+cpu", "numpy": "2.4", "python": "3.11"},
        "kernels": {
            "f": {"case": "forward", "sizes": "8, 12, 128, 64", "ours": {"Eyeline on tensors": side}, "peers": [peer]}
        },
        "models": {"m": model},
        "calls": {"c": {"given": "arrays", "sizes": [1, 2], "warm": microseconds, "cold": 30.0, "at_most": [10, 40]}},
        "memory": {
            "g": {"case": "forward", "sizes": "1", "matrix_gigabytes": 2, "megabytes": megabytes, "at_most": 64}
        },
    }


def test_the_headline_is_of_what_was_measured_in_a_model():
    text = table.written(result())
    headline = text.split("\n\n")[0]
    assert "**Inside a model, torch's SDPA takes 1.50 × as long for dense attention.**" in headline
    assert "take 1.20 × as long on `sdpa`" in headline
    assert "1.05 × as long as not watched" in headline
    assert headline.endswith("Every target is met.")
    assert "| MiniLM | 8 × 128 | 120 ms | 100 ms | **1.20 ×** | 1.1 × | 20%, 2.00 × | 1.05 × | 2e-06 of 6 |" in text
    assert (
        "| forward | 8, 12, 128, 64 | 2 ms, 1.0e-08 | torch SDPA: 2 ms, 1.0e-08 | **1.50 ×** | 7.25 × | 1.4 × |" in text
    )


def test_what_is_short_of_its_target_is_said_with_the_sum():
    text = table.written(result(model_ratio=1.08, kernel_ratio=1.3))
    assert (
        "Short of their targets: MiniLM 8 × 128 (1.08 of 1.1); forward 8, 12, 128, 64 beside torch SDPA (1.30 of 1.4)."
        in text
    )
    assert "1 ÷ (1 − 0.200 + 0.200 ÷ 2.00) = 1.11; if ours took no time, it would be 1.25." in text


@pytest.mark.parametrize(
    ("found", "line"),
    [
        ({"watched_ratio": 1.2}, "MiniLM 8 × 128 watched (1.20, at most 1.1)."),
        ({"microseconds": 11.0}, "a call on arrays, warm (11 µs, at most 10)."),
        ({"megabytes": 70.0}, "memory of forward (70 MB, at most 64)."),
    ],
)
def test_whatever_is_short_is_said(found, line):
    assert f"Short of their targets: {line}" in table.written(result(**found))


def test_a_stale_table_fails_the_check(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(table, "ROOT", tmp_path)
    (tmp_path / "bench" / "results").mkdir(parents=True)
    file = tmp_path / "bench" / "results" / "some-512.json"
    file.write_text(json.dumps(result()))
    readme = tmp_path / table.SPEED
    readme.parent.mkdir(parents=True)
    readme.write_text(f"before\n{table.BEGIN}old\n{table.END}after\n")
    monkeypatch.setattr(table, "READMES", {"README.md": "en", "README.vi.md": "vi"})
    monkeypatch.setattr(table, "beside", lambda result, language: f"short, {language}: {result['processor']}\n")
    for name in table.READMES:
        (tmp_path / name).write_text(f"above\n{table.BESIDE}{table.BESIDE_END}below\n")
    monkeypatch.setattr("sys.argv", ["table.py", "--check"])
    assert table.main() == 1
    assert "python bench/table.py" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["table.py"])
    assert table.main() == 0
    assert readme.read_text().startswith("before\n")
    assert readme.read_text().endswith("after\n")
    short = (tmp_path / "README.vi.md").read_text()
    assert short.startswith(f"above\n{table.BESIDE}\nshort, vi: ")
    assert short.endswith(f"{table.BESIDE_END}below\n")
    monkeypatch.setattr("sys.argv", ["table.py", "--check"])
    assert table.main() == 0
    file.write_text(json.dumps(result(model_ratio=1.19)))
    assert table.main() == 1
