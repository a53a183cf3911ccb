"""Open a model by its name or folder: in NumPy if Eyeline implements its family, else through transformers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eyeline.models import Model, ModelError, load
from eyeline.models.catalogue import CATALOGUE
from eyeline.models.checkpoints import shards_of
from eyeline.models.config import ConfigSettings
from eyeline.models.network import READERS
from eyeline.words import worded


def open_model(name: str | os.PathLike[str], progress: Callable[[str], None] | None = None) -> Model | tuple[Any, Any]:
    """Open a model by its name in the catalogue or by its folder.

    Args:
        name: as for `eyeline.models.load`.
        progress: called with a line of text at each step of fetching or loading.

    Returns:
        One of Eyeline's own models; or, for other families, a model of transformers and its tokenizer.

    Raises:
        ModelError: if there is no such model, its files are invalid, it comes with its own code, or it needs
            transformers and that isn't installed.
    """
    family = _family(name)
    if family is None or family in READERS:
        return load(name, progress=progress)
    return _through_transformers(Path(os.path.expanduser(os.fspath(name))), family, progress)


def _family(name: str | os.PathLike[str]) -> str | None:
    """The model family in a folder's config.json; None where `load` is to report the error."""
    if not isinstance(name, (str, os.PathLike)) or (isinstance(name, str) and name in CATALOGUE):
        return None
    path = Path(os.path.expanduser(os.fspath(name))) / "config.json"
    if not path.is_file():
        return None
    found = ConfigSettings(path).get("model_type")
    return found if isinstance(found, str) else None


def _through_transformers(folder: Path, family: str, progress: Callable[[str], None] | None) -> tuple[Any, Any]:
    ours = ", ".join(READERS)
    if find_spec("transformers") is None or find_spec("torch") is None:
        raise ModelError(
            worded(
                "{path}: model_type must be one that Eyeline runs by itself ({ours}), got {family!r}; "
                "pip install 'eyeline[hf]' runs it through transformers",
                path=folder / "config.json",
                ours=ours,
                family=family,
            )
        )
    for file in ("config.json", "tokenizer_config.json"):
        _refuse_code(folder / file)
    index = folder / "model.safetensors.index.json"
    if index.is_file() and not (folder / "model.safetensors").is_file():
        shards_of(index)  # transformers opens whatever file an index names
    if progress is not None:
        progress(worded("{name}: {family} runs through transformers", name=folder.name, family=family))
    import transformers

    silent: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **silent)
        _refuse_pictures(folder, config)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **silent)
        names = getattr(config, "architectures", None) or [""]
        kind = getattr(transformers, str(names[0]), None)
        if not (isinstance(kind, type) and issubclass(kind, transformers.PreTrainedModel)):
            kind = transformers.AutoModel
        with _quiet():
            silent |= {"use_safetensors": True, "output_loading_info": True}
            pair: Any = kind.from_pretrained(folder, **silent)
        model, loaded = pair
        _refuse_missing(folder, model, loaded["missing_keys"])
    except ModelError:
        raise
    except Exception as error:  # transformers and what it calls raise all sorts where a file is wrong
        line = worded("{folder} can't be loaded by transformers ({reason})", folder=folder, reason=_short(error))
        raise ModelError(line) from None
    return model.eval(), tokenizer


def decoder_of_transformers(folder: Path) -> Any:
    """The decoder of a folder that Eyeline runs by itself, as transformers loads it: for gradients, in float32."""
    import torch
    import transformers

    silent: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True, "use_safetensors": True}
    with _quiet():
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **silent)
    return model.eval()


def _refuse_missing(folder: Path, model: Any, missing: Collection[str]) -> None:
    """A pooler or a task head that isn't in the checkpoint has no part in attention: transformers makes one up.

    Raises:
        ModelError: if the checkpoint lacks any other weights, which would be random.
    """
    prefix = "" if model.base_model is model else f"{model.base_model_prefix}."
    needed = sorted(name for name in missing if name.startswith(prefix) and "pooler" not in name)
    if needed:
        raise ModelError(
            worded(
                "{folder} must have all weights of its model, got a checkpoint without {names}; get the files again",
                folder=folder,
                names=_short(", ".join(needed)),
            )
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bars off stderr: one line has already announced the loading."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _refuse_code(path: Path) -> None:
    """
    Raises:
        ModelError: if a file names code that comes with the model.
    """
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return
    except ModelError:
        raise
    except (OSError, ValueError, RecursionError):
        raise ModelError(worded("{path} is not JSON, or was cut short; get the file again", path=path)) from None
    if isinstance(data, dict) and data.get("auto_map"):
        raise ModelError(
            worded(
                "{path}: auto_map must be left out, got {code}: code that comes with a model, which Eyeline never "
                "runs; if you trust it, load the model yourself and give it as model=, with tokenizer=",
                path=path,
                code=_short(data["auto_map"]),
            )
        )


def _refuse_pictures(folder: Path, config: Any) -> None:
    """
    Raises:
        ModelError: if a model takes no text.
    """
    text = config.get_text_config()
    if getattr(text, "vocab_size", None) is None:
        takes = worded("pictures") if hasattr(config, "image_size") else worded("no text")
        raise ModelError(
            worded(
                "{path}: model_type must be of a model of text, got {family!r}, which takes {takes}; load it with "
                "transformers and record a dict of its inputs: eyeline.record(inputs, model=model)",
                path=folder / "config.json",
                family=config.model_type,
                takes=takes,
            )
        )
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise ModelError(
            worded(
                "{folder} has no tokenizer ({files}); "
                "AutoTokenizer.from_pretrained(name).save_pretrained(folder) makes one",
                folder=folder,
                files=", ".join(_TOKENIZERS),
            )
        )


_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "source.spm")


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 200 else text[:197] + "..."
