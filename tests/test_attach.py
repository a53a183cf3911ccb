"""Models of transformers on Eyeline's attention: how they get there, and what they may ask of it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import pytest
import torch
from hugging import SIZES, albert, bert, eager, llama, one_thread, padded, text  # noqa: F401 - one_thread, for all tests here
from transformers import AutoModel, BertConfig

import eyeline as el
from eyeline import attach
from eyeline.huggingface import import_hook

#: What a process of its own does: the difference from eager attention, of a model loaded with eyeline by name.
LOADS = """
from transformers import AutoModel, BertConfig
import torch
config = BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=50)
model = AutoModel.from_config(config, attn_implementation="eyeline").eval()
ids = torch.arange(20).reshape(2, 10)
mask = torch.ones_like(ids)
mask[1, 6:] = 0
ours = model(ids, attention_mask=mask)[0]
model.set_attn_implementation("eager")
difference = (ours - model(ids, attention_mask=mask)[0]).abs().max().item()
assert 0 < difference < 1e-5, difference
"""


def alone(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "before",
    [
        # Neither of transformers' two modules is loaded before, then one, then both.
        "import eyeline, transformers, importlib\nimportlib.reload(eyeline)",
        "import transformers.masking_utils, eyeline",
        "from transformers import BertModel\nimport eyeline",
    ],
)
def test_models_are_loaded_with_us_whichever_is_imported_first(before):
    done = alone(before + LOADS)
    assert done.returncode == 0, done.stderr


def test_importing_us_loads_neither_torch_nor_transformers():
    code = "import sys, eyeline; sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'pandas')))"
    assert alone(code).returncode == 0


def test_waiting_for_transformers_disturbs_no_other_import():
    finder = import_hook._ImportHook()
    assert finder.find_spec("json", None) is None
    assert finder.find_spec("transformers.models", None) is None
    code = "import eyeline\ntry:\n    import transformers.masking_utils_of_ours\nexcept ImportError:\n    print('none')"
    assert alone(code).stdout == "none\n"


def test_an_old_transformers_is_left_alone():
    """One without the interfaces has nothing registered, and imports as ever."""
    module = type(sys)("transformers.modeling_utils")
    import_hook._register(module)
    assert vars(module).keys() <= {"__name__", "__doc__", "__package__", "__loader__", "__spec__"}


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (
            {"torch": "2.13.0", "transformers": "4.57.1"},
            r"transformers must be version 5, got 4\.57\.1; pip install 'tr",
        ),
        ({"torch": "2.13.0", "transformers": "6.0.0"}, r"transformers must be version 5, got 6\.0\.0"),
        ({"torch": "2.13.0"}, r"eyeline needs transformers .* isn't installed; pip install 'eyeline\[hf\]'"),
        ({}, r"eyeline needs torch .* isn't installed"),
    ],
)
def test_what_is_missing_is_said(monkeypatch, found, message):
    def version(name: str) -> str:
        if name not in found:
            raise importlib.metadata.PackageNotFoundError
        return found[name]

    monkeypatch.setattr("eyeline.huggingface.errors.version", version)
    for name in ("attach", "watch"):
        with pytest.raises(ImportError, match=message):
            getattr(el.huggingface, name)


@pytest.mark.parametrize("side", [None, "left", "right"])
def test_attached_is_what_it_was(side):
    for model in (bert(), albert(), llama()):
        ids = text()
        tokens = padded(ids, 4, side) if side else torch.ones_like(ids)
        want = eager(model, ids, attention_mask=tokens)[0]
        assert attach(model) is model
        assert model.config._attn_implementation == "eyeline"
        torch.testing.assert_close(model(ids, attention_mask=tokens)[0][tokens.bool()], want[tokens.bool()])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("bert", "model must be a model of transformers, got str; load one with AutoModel"),
        (torch.nn.Linear(2, 2), "model must be or hold a model of transformers, got Linear"),
        (None, "model must be a model of transformers, got NoneType"),
    ],
)
def test_what_is_no_model_is_refused(model, message):
    with pytest.raises(TypeError, match=message):
        attach(model)
    with pytest.raises(TypeError, match=message), el.watch(model):
        pass


def test_a_module_that_holds_models_is_attached_within():
    held = torch.nn.ModuleDict({"one": bert(), "other": llama()})
    attach(held)
    assert {part.config._attn_implementation for part in held.values()} == {"eyeline"}
    with el.watch(held, el.Entropy()) as seen:
        held["one"](text())
    assert seen.modules == [f"one.encoder.layer.{n}.attention.self" for n in (0, 1)]


def test_a_saved_model_loads_elsewhere(tmp_path):
    """What is saved says nothing of us."""
    attach(bert()).save_pretrained(tmp_path)
    assert "eyeline" not in (tmp_path / "config.json").read_text()
    assert AutoModel.from_pretrained(tmp_path).config._attn_implementation == "sdpa"
    assert AutoModel.from_pretrained(tmp_path, attn_implementation="eyeline").config._attn_implementation == "eyeline"


def test_configuration_by_name():
    model = AutoModel.from_config(BertConfig(**SIZES), attn_implementation="eyeline")
    assert model.config._attn_implementation == "eyeline"


def test_shapes_alone_on_the_meta_device():
    with torch.device("meta"):
        model, ids = attach(bert()), text()
    assert model(ids).last_hidden_state.shape == (2, 12, 32)
