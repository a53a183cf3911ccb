"""What a model's modules tell, before it runs, of its attention: the kinds, and the numbers of layers and heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from eyeline.edits import Edit, Kind, ModelEdits
from eyeline.edits.model_edits import Sites
from eyeline.huggingface.call_places import is_cross_by_name
from eyeline.huggingface.implementations import calls_interface

#: The names of a module's or a configuration's number of heads.
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head")
#: Taken where a module doesn't tell how many heads it has: an edit's heads are then checked when it runs.
_UNKNOWN = 1 << 12


@dataclass(frozen=True)
class AttentionModule:
    """A module that calls transformers' attention interface.

    Attributes:
        kind: "cross" or "decoder self" where it says so; else "encoder self", which a causal mask may make "decoder
            self" when it runs (CLIP's texts).
        heads, key_heads: H and G, if known.
    """

    kind: Kind
    heads: int | None
    key_heads: int | None


def attention_modules(model: nn.Module) -> list[AttentionModule]:
    """The modules of a model that call transformers' attention interface, each as often as a pass calls it: as it
    stands in the model, and ALBERT's, whose layers share modules by a setting, for each layer."""
    return list(_found(model))


def layers_by_kind(modules: Sequence[AttentionModule]) -> dict[Kind, int]:
    """How many layers of each kind there are."""
    return dict(Counter(one.kind for one in modules))


def check_edits(edits: Sequence[Edit], modules: Sequence[AttentionModule]) -> None:
    """Check edits against what the modules tell; what they don't is checked when they run.

    Raises:
        EditError: if the model hasn't a kind, a layer or a head, or a layer's number may mean several.
    """
    layers = layers_by_kind(modules)
    for edit in edits:
        sure = layers
        if edit.kind == "decoder self" and edit.kind not in layers and "encoder self" in layers:
            sure = {"decoder self": layers["encoder self"]}  # of which some may turn out to be causal
        there = [one for one in modules if edit.kind in (None, one.kind) or edit.kind not in layers]
        ModelEdits(edit, Sites(sure, *(_most(there, name) for name in ("heads", "key_heads"))))


def _most(modules: Sequence[AttentionModule], name: str) -> int:
    counts = [getattr(one, name) for one in modules]
    return max((_UNKNOWN if count is None else count for count in counts), default=_UNKNOWN)


def _found(model: nn.Module) -> Iterator[AttentionModule]:
    for path, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, PreTrainedModel) or not calls_interface(type(module)):
            continue
        cross = is_cross_by_name(module, path)
        kind: Kind = "cross" if cross else "decoder self" if getattr(module, "is_causal", False) else "encoder self"
        config = getattr(module, "config", None)
        heads = next((count for one in (module, config) for name in _HEADS if (count := _count(one, name))), None)
        key_heads = _count(config, "num_key_value_heads") or heads
        layers, groups = _count(config, "num_hidden_layers"), _count(config, "num_hidden_groups")
        times = -(-layers // groups) if layers and groups else 1
        yield from [AttentionModule(kind, heads, key_heads)] * times


def _count(holder: Any, name: str) -> int | None:
    count = getattr(holder, name, None)
    return count if isinstance(count, int) else None
