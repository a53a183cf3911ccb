"""Editing a model's attention while a block of code runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import nn

from eyeline.edits import Edit, EditError, several
from eyeline.huggingface.call_editor import CallEditor
from eyeline.huggingface.watching import followed
from eyeline.words import worded


@contextmanager
def edit(model: nn.Module, edits: Edit | Sequence[Edit]) -> Iterator[None]:
    """Edit a Hugging Face model's attention while it runs.

    Within the block the model's attention runs on Eyeline, edited: in calls of the model, in `generate()`, whose steps
    are edited at their own positions, and in training: gradients go through the edited attention, and into tensors that
    `by=` holds. After the block, also after an exception, the model is restored. A compiled model runs uncompiled
    within the block.

    Layers are counted from 0, as in `WatchedCall.layer`: among the calls of their kind in one pass. Positions are those
    of each text's own tokens, without padding. Blocks within one another add up, as if their edits stood in one list;
    `watch` and `record` on the same model, within or around, see edited weights. Where layers are run again for the
    gradients (gradient checkpointing), `backward()` must be called within the block.

    Args:
        model: a model of transformers 5, or a module that holds one.
        edits: one or several of `eyeline.edits`, with positions rather than words, since the text isn't known here.

    Raises:
        TypeError: if `model` isn't a model, or an edit isn't one.
        EditError: a ValueError: at once, if the model hasn't a layer, a head or a kind, `kind` is missing where there
            are several, or an edit names words; while the model runs, if another run is too short or `by` has too few
            numbers; at the end, if a layer was never called.
        HuggingFaceError: a ValueError; at once if the model can't be edited (see `attach`), at the end if it ran
            without ever calling Eyeline.

    Warns:
        UserWarning: at the end, if the model never ran, if some of its attention modules ran without calling Eyeline
            (it names them), or if the tokens of an edit never came.

    >>> import torch
    >>> from eyeline import edits as ed
    >>> from transformers import BertConfig, BertModel
    >>> model = BertModel(BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32))
    >>> ids = torch.arange(10)[None]
    >>> plain = model.eval()(ids)[0]
    >>> with edit(model, ed.Gate(layer=1, head=0, by=0.0)):
    ...     without = model(ids)[0]
    >>> torch.allclose(plain, without), torch.equal(plain, model(ids)[0])
    (False, True)
    """
    with edit_each(model, [several(edits)]):
        yield


@contextmanager
def edit_each(model: nn.Module, edits: Sequence[Sequence[Edit]]) -> Iterator[None]:
    """As `edit`, with edits for each text of a batch: `edits[b]` are those of text b. One list is for all texts."""
    for one in (edit for text in edits for edit in text):
        if one.has_words:
            raise EditError(
                worded(
                    "tokens must be positions where the text isn't known, got {one!r}; give numbers from 0, or "
                    "use eyeline.record(text, model=…, tokenizer=…, edits=…), which knows it",
                    one=one,
                )
            )
    editor = CallEditor(model, edits)
    with followed(model, editor):
        yield
    editor.finish()
