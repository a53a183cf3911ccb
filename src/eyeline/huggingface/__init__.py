"""Hugging Face models on Eyeline's attention: `attn_implementation="eyeline"`, `attach`, and `watch`, to look inside.

`arrival` tells transformers, whenever it is imported, of an attention function (`function`, which makes a `request`
of each call) and of a mask function (`masking`, which finds the structure of transformers' masks with `structure`).
While `watching`, a `watcher` follows the model's `passes`, and keeps what is read of each call, as `looks`. This room
may import `eyeline.torch` and the rooms below it; torch, transformers and pandas load with the modules that need
them, not with this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eyeline.huggingface.attaching import attach
    from eyeline.huggingface.watched import Watched, WatchedCall
    from eyeline.huggingface.watching import watch

__all__ = ["Watched", "WatchedCall", "attach", "watch"]
_HOMES = {"attach": "attaching", "watch": "watching", "WatchedCall": "watched", "Watched": "watched"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'eyeline.huggingface' has no attribute {name!r}")
    from importlib import import_module

    from eyeline.huggingface.errors import check_installed

    check_installed()
    return getattr(import_module(f"eyeline.huggingface.{_HOMES[name]}"), name)
