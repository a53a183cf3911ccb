"""Who follows the attention calls of a module: editors, which change a call, and an observer, which computes it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn

from eyeline.edits import CallEdits, Edit, joined
from eyeline.edits.call_edits import check_replaced_once
from eyeline.huggingface.attention_call import AttentionCall
from eyeline.huggingface.errors import HuggingFaceError
from eyeline.words import worded


class Observer(Protocol):
    """An object that observes the attention calls of a watched model, and computes their outputs."""

    def observe(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the output of a call."""


class Editor(Protocol):
    """An object that edits the attention calls of a model.

    Attributes:
        edits: its edits, of all calls.
    """

    edits: tuple[Edit, ...]

    def of_call(self, module: nn.Module, call: AttentionCall) -> CallEdits | None:
        """The edits of a call; None if it has none."""


@dataclass(frozen=True)
class Followers:
    """Those who follow one module: editors, the outermost block's first, and an observer."""

    editors: tuple[Editor, ...] = ()
    observer: Observer | None = None

    def edited(self, module: nn.Module, call: AttentionCall) -> AttentionCall:
        """The call with the edits of all editors, as if they stood in one list."""
        found = [edits for editor in self.editors if (edits := editor.of_call(module, call)) is not None]
        if not found:
            return call
        edits = found[0] if len(found) == 1 else joined(found)
        if len(found) > 1:
            check_replaced_once(edits)
        return call._replace(edits=edits)

    def output(self, module: nn.Module, call: AttentionCall) -> Tensor:
        """Compute the output of a call."""
        return call.output() if self.observer is None else self.observer.observe(module, call)


#: By the module's id, which stays valid because each follower holds its model.
_FOLLOWERS: dict[int, Followers] = {}
_NOBODY = Followers()


def followers_of(module: nn.Module) -> Followers | None:
    """Who follows a module's calls, if anybody does."""
    return _FOLLOWERS.get(id(module))


def edits_around(model: nn.Module) -> tuple[Edit, ...]:
    """The edits of the blocks in which a model is, the outermost block's first."""
    return tuple(edit for editor in _FOLLOWERS.get(id(model), _NOBODY).editors for edit in editor.edits)


def check_unobserved(modules: Iterable[int]) -> None:
    """
    Raises:
        HuggingFaceError: if one of these modules, by id, is observed already.
    """
    if any(_FOLLOWERS.get(module, _NOBODY).observer is not None for module in modules):
        raise HuggingFaceError(worded("model must be watched once at a time, got one that is being watched already"))


def observe_modules(modules: Iterable[int], observer: Observer, undo: ExitStack) -> None:
    """Show an observer the calls of these modules, by id, until `undo` is closed."""
    several = tuple(modules)
    undo.callback(_observe, several, None)
    _observe(several, observer)


def edit_modules(modules: Iterable[int], editor: Editor, undo: ExitStack) -> None:
    """Let an editor edit the calls of these modules, by id, until `undo` is closed; inner blocks come last."""
    several = tuple(modules)
    undo.callback(_forget, several, editor)
    for module in several:
        before = _FOLLOWERS.get(module, _NOBODY)
        _put(module, Followers((*before.editors, editor), before.observer))


def _observe(modules: Iterable[int], observer: Observer | None) -> None:
    for module in modules:
        _put(module, Followers(_FOLLOWERS.get(module, _NOBODY).editors, observer))


def _forget(modules: Iterable[int], editor: Editor) -> None:
    for module in modules:
        before = _FOLLOWERS.get(module, _NOBODY)
        _put(module, Followers(tuple(one for one in before.editors if one is not editor), before.observer))


def _put(module: int, followers: Followers) -> None:
    if followers.editors or followers.observer is not None:
        _FOLLOWERS[module] = followers
    else:
        _FOLLOWERS.pop(module, None)
