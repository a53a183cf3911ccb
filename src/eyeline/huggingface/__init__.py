"""Hugging Face models on Eyeline's attention: `attn_implementation="eyeline"`, `attach`, `watch` and recording.

`import_hook` registers two functions with transformers when that is imported: the attention function
(`attention_interface`, which turns each call into an `attention_call`) and the mask function (`mask_interface`, which
finds the structure of transformers' masks with `mask_structure`, and returns a `structured_mask`). `implementations`
sets the attention implementation of each part of a model. While `watching`, a `call_observer` observes every call,
`forward_passes` counts the passes, and `watched_call` and `watched_calls` hold the readouts; `recording` keeps the
inputs of every attention call. This room may import `eyeline.torch` and the rooms below it; torch, transformers and
pandas load with the modules that need them, not with this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eyeline.huggingface.attaching import attach
    from eyeline.huggingface.editing import edit
    from eyeline.huggingface.watched_call import WatchedCall
    from eyeline.huggingface.watched_calls import Watched
    from eyeline.huggingface.watching import watch

__all__ = ["Watched", "WatchedCall", "attach", "edit", "watch"]
_HOMES = {
    "attach": "attaching",
    "edit": "editing",
    "watch": "watching",
    "WatchedCall": "watched_call",
    "Watched": "watched_calls",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'eyeline.huggingface' has no attribute {name!r}")
    from importlib import import_module

    from eyeline.huggingface.errors import check_installed

    check_installed()
    return getattr(import_module(f"eyeline.huggingface.{_HOMES[name]}"), name)
