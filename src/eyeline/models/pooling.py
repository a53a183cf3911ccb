"""How an encoder makes one vector of a text's: the settings of its folder, as sentence-transformers saves them.

Source: Reimers & Gurevych, "Sentence-BERT" (2019), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.catalogue import CATALOGUE
from eyeline.models.checkpoints import Array
from eyeline.models.config import ConfigSettings, read_json, short
from eyeline.models.errors import ModelError
from eyeline.models.model import Model
from eyeline.words import worded

_MODES = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "first"}


@dataclass(frozen=True)
class Pooling:
    """How a text's vector is made of its tokens' vectors after the last layer.

    Attributes:
        longest: the most tokens of a text, special ones included; the rest of it is cut off.
        mode: "mean" over all tokens, special ones included, or the "first" token's.
        normalised: whether the vector is divided by its length.
    """

    longest: int
    mode: str = "mean"
    normalised: bool = True

    def __call__(self, states: Array, lengths: NDArray[np.int64]) -> Array:
        """Packed texts' vectors, (texts, width), from their tokens', (tokens, width); zero for a text without any."""
        vectors = np.zeros((len(lengths), states.shape[1]), np.float32)
        some = lengths > 0
        first = (np.cumsum(lengths) - lengths)[some]
        if self.mode == "first":
            vectors[some] = states[first]
        elif some.any():
            vectors[some] = np.add.reduceat(states, first, axis=0) / lengths[some, None].astype(np.float32)
        if self.normalised:
            norms = np.sqrt(np.einsum("tw,tw->t", vectors, vectors))
            # As torch's `normalize`: a zero vector stays one.
            vectors /= np.maximum(norms, np.float32(1e-12))[:, None]
        return vectors


def pooling_of(model: Model) -> Pooling:
    """How a model's texts are pooled: as its folder's modules.json, 1_Pooling/config.json and sentence_bert_config.json
    say, else by the mean, normalised.

    A copy of a known model that was fetched lacks these files; the catalogue holds what they say.

    Raises:
        ModelError: if the model is a decoder, or a file asks for something else than the mean or the first token.
    """
    config, folder = model.config, model.source
    if config.causal:
        raise ModelError(
            worded(
                "model must be an encoder to embed texts, got the decoder {model} ({model_type}), whose last "
                "layer is made to say the next token; take one such as minilm",
                model=model.name,
                model_type=config.model_type,
            )
        )
    known = CATALOGUE.get(model.name)
    longest = config.positions if known is None or known.longest is None else known.longest
    if (path := folder / "sentence_bert_config.json").is_file():
        settings = ConfigSettings(path)
        longest = settings.whole("max_seq_length", longest)
        if settings.flag("do_lower_case"):
            settings.wrong("do_lower_case", worded("false: Eyeline leaves that to the tokenizer"))
    longest = min(longest, config.positions)
    if not (folder / "modules.json").is_file():
        return Pooling(longest)
    modules = _modules(folder / "modules.json")
    mode = "mean"
    if "Pooling" in modules:
        mode = _mode(folder / modules["Pooling"] / "config.json")
    return Pooling(longest, mode, "Normalize" in modules)


def _modules(path: Path) -> dict[str, str]:
    """The folders of a model's parts, by the parts' class."""
    listed = read_json(path, list)
    found: dict[str, str] = {}
    for module in listed:
        kind, place = (module.get("type"), module.get("path")) if isinstance(module, dict) else ("", "")
        name = str(kind).rpartition(".")[2]
        inside = isinstance(place, str) and ".." not in Path(place).parts and not Path(place).is_absolute()
        if not inside or name not in ("Transformer", "Pooling", "Normalize"):
            raise ModelError(
                worded(
                    "{path} must list Transformer, Pooling and Normalize, each in a folder of the model's, got "
                    "{value}; embed texts with sentence-transformers, or take a model without that",
                    path=path,
                    value=short(module),
                )
            )
        found[name] = str(place)
    return found


def _mode(path: Path) -> str:
    settings: dict[str, Any] = read_json(path, dict)
    modes = [name for name, value in settings.items() if name.startswith("pooling_mode") and value]
    if len(modes) != 1 or modes[0] not in _MODES:
        raise ModelError(
            worded(
                "{path} must choose one of {there}, got {value}; embed texts with sentence-transformers, or "
                "take a model that does",
                path=path,
                there=f" {worded('and')} ".join(_MODES),
                value=short(modes),
            )
        )
    return _MODES[modes[0]]
