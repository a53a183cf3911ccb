"""First-order effects: the slope of a decoder's measure along each head's gate, by one backward pass of torch.

Source: Michel et al., "Are Sixteen Heads Really Better than One?" (2019), section 4.1, without the absolute value.
"""

from __future__ import annotations

from importlib.util import find_spec

from eyeline.answers.mattering.measure import Array
from eyeline.answers.mattering.prepared import Prepared
from eyeline.answers.mattering.transformers_run import TransformersRun
from eyeline.answers.question import QuestionError
from eyeline.traces.folders import decoder_of_transformers
from eyeline.traces.own_model import OwnModel
from eyeline.traces.transformers_model import TransformersModel
from eyeline.words import worded


def check_first_order() -> None:
    """
    Raises:
        QuestionError: if torch or transformers isn't installed.
    """
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        raise QuestionError(
            worded("first_order needs {missing}, which isn't installed", missing=missing[0]),
            worded("pip install 'eyeline[hf]', or leave it out"),
        )


def first_order_effects(ready: Prepared) -> Array:
    """The slopes, (L, H): the effects as they would be if the measure changed evenly as a gate closes.

    A model of Eyeline's own is loaded from the same folder by transformers.
    """
    assert ready.next is not None
    runs = ready.runs
    if isinstance(ready.model, OwnModel):
        model = TransformersModel(decoder_of_transformers(ready.model.model.source), None)
        read = model.with_tokens(ready.subject.read.tokens, ready.subject.read)
        runs = TransformersRun(model, read, None, ready.edits.edits)
    assert isinstance(runs, TransformersRun)
    rival = None if ready.rather is None else ready.rather.id
    return runs.slopes(ready.model.layers, ready.next.id, rival)
