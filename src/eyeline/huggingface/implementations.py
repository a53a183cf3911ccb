"""The attention implementation of each part of a model: setting it for every part, and restoring it."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from eyeline.huggingface.import_hook import NAME

#: The name that a module's code uses where it calls transformers' attention interface.
_INTERFACE = "ALL_ATTENTION_FUNCTIONS"
#: By class: looking through its code takes a tenth of a millisecond.
_KNOWN: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def set_implementation(root: PreTrainedModel) -> None:
    """Set Eyeline's attention for every part of a model that calls transformers' attention interface.

    Transformers sets the configuration of each `PreTrainedModel` in it. A model built from others in memory
    (`EncoderDecoderModel`) gives them a new configuration, while their modules keep the old one, which transformers
    doesn't set: so this function visits all modules.
    """
    root.set_attn_implementation(NAME)
    for module, owner in _owned(root, root):
        config = getattr(module, "config", None)
        if isinstance(config, PreTrainedConfig) and owner._can_set_attn_implementation():
            config._attn_implementation_internal = NAME


def implementations(parts: Iterable[nn.Module]) -> list[tuple[PreTrainedConfig, Any]]:
    """Every configuration in a model's modules, and its attention implementation."""
    found: dict[int, PreTrainedConfig] = {}
    # Asking every module would take a millisecond: torch looks for a missing attribute in many places.
    waiting: list[Any] = [
        getattr(module, "config", None)
        for module in parts
        if "config" in vars(module) or hasattr(type(module), "config")
    ]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in found:
            found[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return [(config, config._attn_implementation_internal) for config in found.values()]


def restore(before: list[tuple[PreTrainedConfig, Any]]) -> None:
    """Restore the result of `implementations`."""
    for config, implementation in before:
        config._attn_implementation_internal = implementation


def looks_like_attention(module: nn.Module) -> bool:
    """Whether a module is attention by the name of its class."""
    return "attention" in type(module).__name__.lower()


def out_of_reach(root: PreTrainedModel) -> list[str]:
    """The paths of modules that compute attention without calling transformers' attention interface.

    These have "attention" in the name of their class, and neither their code nor that of a module within them names the
    interface.
    """
    calls = {kind: calls_interface(kind) for kind in {type(module) for module in root.modules()}}
    return [
        path
        for path, module in root.named_modules()
        if looks_like_attention(module)
        and not any(calls[type(part)] for part in module.modules())
        and not any(looks_like_attention(part) for part in module.modules() if part is not module)
    ]


def calls_interface(kind: type[nn.Module]) -> bool:
    """Whether the code of a class of modules calls transformers' attention interface."""
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = _names_interface(kind)
    return known


def _names_interface(kind: type[nn.Module]) -> bool:
    methods = (inspect.unwrap(method) for one in kind.__mro__ for method in vars(one).values() if callable(method))
    return any(_INTERFACE in method.__code__.co_names for method in methods if hasattr(method, "__code__"))


def _owned(module: nn.Module, owner: PreTrainedModel) -> Iterator[tuple[nn.Module, PreTrainedModel]]:
    """All modules, each with the innermost `PreTrainedModel` that contains it, possibly itself."""
    owner = module if isinstance(module, PreTrainedModel) else owner
    yield module, owner
    for child in module.children():
        yield from _owned(child, owner)
