"""Register Eyeline with transformers, whichever is imported first; neither loads the other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: The value of `attn_implementation=`.
NAME = "eyeline"
#: The modules with transformers' attention functions and its mask functions.
_ATTENTION, _MASKS = "transformers.modeling_utils", "transformers.masking_utils"


def register_on_import() -> None:
    """Register with transformers now if it is loaded, else when it is imported."""
    loaded = [name for name in (_ATTENTION, _MASKS) if name in sys.modules]
    for name in loaded:
        _register(sys.modules[name])
    if len(loaded) < 2 and not any(isinstance(finder, _ImportHook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ImportHook())


def _register(module: ModuleType) -> None:
    """Register the function for one module, unless this version of transformers has no such interface."""
    name, home, function = _INTERFACES[module.__name__]
    interface = getattr(module, name, None)
    if interface is not None:
        # Later modules than this one load torch; until one is needed, a function that loads it stands in.
        placeholder = _attend if module.__name__ == _ATTENTION else _mask
        interface.register(NAME, getattr(sys.modules.get(home), function, placeholder))


def _attend(*args: Any, **kwargs: Any) -> Any:
    from eyeline.huggingface.attention_interface import attend

    _register(sys.modules[_ATTENTION])  # the function itself, in place of this one
    return attend(*args, **kwargs)


def _mask(*args: Any, **kwargs: Any) -> Any:
    from eyeline.huggingface.mask_interface import mask

    _register(sys.modules[_MASKS])
    return mask(*args, **kwargs)


#: For each of transformers' modules: its interface, and the module and name of the function to register there.
_INTERFACES = {
    _ATTENTION: ("AttentionInterface", "eyeline.huggingface.attention_interface", "attend"),
    _MASKS: ("AttentionMaskInterface", "eyeline.huggingface.mask_interface", "mask"),
}


class _ImportHook:
    """An import finder that leaves finding to the others, and registers after one of the two modules has run."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in (_ATTENTION, _MASKS):
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    _after(spec.loader)
                return spec
        return None


def _after(loader: Any) -> None:
    """Make a module's loader register Eyeline after the module has run."""
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        run(module)
        _register(module)

    loader.exec_module = exec_module
