"""Reading a model's folder: config.json and model.safetensors, believed only as far as they are checked."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyeline.models.activations import ACTIVATIONS
from eyeline.models.errors import ModelError
from eyeline.models.families import FAMILIES, Family

_HERE = "a model's folder holds config.json, model.safetensors and tokenizer.json"


@dataclass(frozen=True)
class Config:
    """What config.json says of the model.

    Attributes:
        model_type: its family: "bert", "roberta" and so on.
        vocabulary_size: how many token ids there are.
        positions: the most tokens that it can take.
        layers: how many layers.
        heads: H, heads per layer.
        width: the length of a token's vector; each head has width / heads of it.
        feed_forward_width: the length of the vector between the two halves of a feed-forward layer.
        activation: the function between them.
        norm_epsilon: what layer norms add to the variance.
        first_position: which row of the position embeddings the first token takes.
        token_types: how many kinds of text it tells apart; 0 if it doesn't.
    """

    model_type: str
    vocabulary_size: int
    positions: int
    layers: int
    heads: int
    width: int
    feed_forward_width: int
    activation: str
    norm_epsilon: float
    first_position: int
    token_types: int = 0

    @property
    def head_dim(self) -> int:
        """D, the width of one head."""
        return self.width // self.heads

    @property
    def key_heads(self) -> int:
        """G, the heads that keys and values have."""
        return self.heads

    @property
    def causal(self) -> bool:
        """Whether a token looks at none after it."""
        return False

    @property
    def family(self) -> Family:
        """What its checkpoints call things."""
        return FAMILIES[self.model_type]


def check_folder(folder: Path) -> None:
    """Raise `ModelError` unless `folder` is a folder with the three files of a model."""
    if not folder.exists():
        raise ModelError(f"there is no folder {folder}; {_HERE}")
    if not folder.is_dir():
        raise ModelError(f"{folder} is a file, not a folder; give the folder: {_HERE}")
    if not os.path.isfile(folder / "config.json"):
        raise ModelError(f"{folder} has no config.json; {_HERE}")
    if not os.path.isfile(folder / "model.safetensors"):
        raise ModelError(f"{folder} has {_instead(folder)}")
    if not os.path.isfile(folder / "tokenizer.json"):
        make = "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        raise ModelError(f"{folder} has no tokenizer.json; {_HERE} (transformers makes it: {make})")


def _instead(folder: Path) -> str:
    """What there is in place of model.safetensors, and what to do about it."""
    if os.path.isfile(folder / "model.safetensors.index.json"):
        save = 'save_pretrained(new_folder, max_shard_size="100GB")'
        return f"its weights in several files, which Eyeline doesn't read; save them as one model.safetensors ({save})"
    if pickled := sorted(file.name for file in folder.iterdir() if file.suffix in (".bin", ".pt", ".pth", ".ckpt")):
        convert = "AutoModel.from_pretrained(folder).save_pretrained(new_folder)"
        return (
            f"{pickled[0]} but no model.safetensors; Eyeline never unpickles, since a pickle can run any code: if you "
            f"trust it, convert it with transformers ({convert})"
        )
    return f"no model.safetensors; {_HERE}"


def read_config(folder: Path) -> Config:
    """The settings in config.json; code that it may name (auto_map) is ignored."""
    path = folder / "config.json"
    data = _read_json(path)
    kind = data.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ModelError(
            f"{path}: model_type must be one that Eyeline runs ({', '.join(FAMILIES)}), got {_short(kind)}"
        )
    if data.get("is_decoder") or data.get("add_cross_attention"):
        raise ModelError(f"{path}: the model must be an encoder, got a decoder (is_decoder or add_cross_attention)")
    if data.get("position_embedding_type", "absolute") != "absolute":
        raise ModelError(
            f"{path}: position_embedding_type must be absolute, got {_short(data['position_embedding_type'])}"
        )
    family = FAMILIES[kind]
    data.setdefault("type_vocab_size", 2)  # as in transformers; the other sizes are always there
    sizes = {ours: theirs for ours, theirs in family.settings.items() if ours != "activation"}
    value = {ours: _whole(path, theirs, data.get(theirs)) for ours, theirs in sizes.items()}
    if value["width"] % value["heads"]:
        heads, width = family.settings["heads"], family.settings["width"]
        raise ModelError(f"{path}: {heads} must divide {width}, {value['width']}, got {_short(value['heads'])}")
    activation = data.get(family.settings["activation"], "gelu")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        named = family.settings["activation"]
        raise ModelError(f"{path}: {named} must be one of {', '.join(ACTIVATIONS)}, got {_short(activation)}")
    epsilon = data.get("layer_norm_eps", family.norm_epsilon)
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not (0 < epsilon < 1):
        raise ModelError(f"{path}: layer_norm_eps must be a number between 0 and 1, got {_short(epsilon)}")
    first = 0
    if family.positions_after_padding:
        first = 1 + _whole(path, "pad_token_id", data.get("pad_token_id", 1), least=0)
        if first >= value["positions"]:
            raise ModelError(f"{path}: max_position_embeddings must be more than {first}, got {value['positions']}")
    value["positions"] -= first
    return Config(kind, activation=activation, norm_epsilon=float(epsilon), first_position=first, **value)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ModelError(f"{path} is not JSON, or was cut short; get the file again") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} must hold a JSON object, got {_short(data)}; get the file again")
    return data


_MOST = 2**31 - 1


def _whole(path: Path, name: str, value: object, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
        got = "nothing" if value is None else _short(value)
        raise ModelError(f"{path}: {name} must be a whole number from {least} to {_MOST}, got {got}")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}


class Weights:
    """The tensors of a model.safetensors, read from the file as they are used, as float32.

    Each is asked for by name and shape, and a `ModelError` says which is missing or has another shape.
    """

    def __init__(self, path: Path, prefix: str = "") -> None:
        from safetensors import SafetensorError, safe_open

        self.path = path
        try:
            # The library's own parser checks the header against the file: sizes, overlaps, holes, the end.
            with safe_open(path, "np"):
                pass
            with open(path, "rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(length))
            # Mapped, not read: only the rows of the embeddings that a text needs ever leave the disk.
            self._data = np.asarray(np.memmap(path, np.uint8, "r"))[8 + length :]
        except (SafetensorError, ValueError, RecursionError) as error:
            reason = str(error).removeprefix("Error while deserializing header: ")
            raise ModelError(f"{path} is damaged or was cut short ({reason}); get the file again") from None
        except OSError as error:
            raise ModelError(f"{path} can't be read: {error.strerror or error}") from None
        header.pop("__metadata__", None)
        # A file with a task head prefixes its encoder's tensors; old ones call a norm's weights gamma and beta.
        self._header = {_current(name.removeprefix(prefix)): entry for name, entry in header.items()}

    def get(self, name: str, *shape: int) -> NDArray[np.float32]:
        """One tensor, float32: a view of the file if that is what the file holds."""
        entry = self._header.get(name)
        if entry is None:
            raise ModelError(f"{self.path} has no tensor {name}, which config.json's model needs; get the model again")
        if tuple(entry["shape"]) != shape:
            raise ModelError(
                f"{self.path}: {name} must have shape {shape} by config.json, got {tuple(entry['shape'])}; the two "
                f"files must be of one model"
            )
        first, last = entry["data_offsets"]
        raw = self._data[first:last]
        kind = entry["dtype"]
        if kind == "BF16":
            # The upper half of a float32, which NumPy has no type for.
            values: NDArray[Any] = (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
        elif kind in _TYPES:
            values = raw.view(_TYPES[kind])
        else:
            known = ", ".join([*_TYPES, "BF16"])
            raise ModelError(f"{self.path}: {name} must be one of {known}, got {kind}; save the model in one of these")
        return np.require(values.reshape(shape), np.float32, "A")

    def shape(self, name: str, otherwise: tuple[int, int]) -> tuple[int, int]:
        """The shape of a matrix whose size config.json doesn't say; `otherwise` if there is no matrix of that name."""
        shape = self._header.get(name, {"shape": ()})["shape"]
        return (shape[0], shape[1]) if len(shape) == 2 else otherwise


def _current(name: str) -> str:
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
