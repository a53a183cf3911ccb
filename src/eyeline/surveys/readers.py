"""The models that a survey reads a corpus with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eyeline.models import Tokens
from eyeline.surveys.errors import SurveyError
from eyeline.surveys.looks import Looks
from eyeline.surveys.windows import TextWindow
from eyeline.traces.model_choice import text_model
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder
from eyeline.traces.own_model import OwnModel
from eyeline.traces.transformers_model import TransformersModel
from eyeline.words import worded


@runtime_checkable
class SurveyModel(Protocol):
    """A model, as a survey needs it.

    Attributes:
        info: what survey.json says of it: name, family, layers, heads, causal, positions, vocabulary_size, the sha256
            of its weights, and source.
        layers, heads: L and H.
        causal: whether tokens look only at themselves and earlier ones.
        positions: the most tokens that it reads at once; None without a limit.
        longest: the longest window that is taken where none is given.
        together: the most tokens that `looks` is given at once, but for a longer window.
    """

    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def layers(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def causal(self) -> bool: ...
    @property
    def positions(self) -> int | None: ...
    @property
    def longest(self) -> int: ...
    @property
    def together(self) -> int: ...

    def tokens(self, text: str) -> Tokens:
        """The whole text's tokens, with the special tokens around it; nothing is cut off.

        Raises:
            ModelError: if the text can't be tokenized.
        """

    def looks(self, windows: Sequence[TextWindow], types: NDArray[np.int64], count: int) -> Iterator[Looks]:
        """Run the model over some windows, each by itself.

        Args:
            windows: the windows; their tokens, end to end, are the N rows of the looks.
            types: the type of each token as a key, from 0, (N,).
            count: the number of types, T.

        Yields:
            The looks of each layer.
        """

    def induction(self) -> tuple[int, NDArray[np.float64]] | None:
        """The number of random tokens that were repeated, and each head's score, (L, H); None without room for two."""


def survey_model(model: Any, tokenizer: Any = None, progress: Callable[[str], None] | None = None) -> SurveyModel:
    """Make a `SurveyModel` from a name, a folder or a loaded model; one is returned as it is.

    Args:
        model: a name from the catalogue, a folder, a loaded model of Eyeline's, or a model of transformers.
        tokenizer: the tokenizer of a model of transformers.
        progress: called with a line of text at each step of fetching or loading a model.

    Raises:
        SurveyError: if it is an encoder-decoder.
        TraceError, ModelError: as `eyeline.traces.text_model`; both are ValueErrors.
    """
    if isinstance(model, SurveyModel):
        return model
    found = text_model(model, tokenizer, progress=progress)
    if isinstance(found, OwnModel):
        from eyeline.surveys.own_model import OwnSurveyModel

        return OwnSurveyModel(found)
    if isinstance(found, OwnEncoderDecoder):
        raise SurveyError(
            worded(
                "model must be an encoder or a decoder for a survey, got {name}, which is both; take minilm or smollm2",
                name=found.name,
            )
        )
    from eyeline.surveys.transformers_model import TransformersSurveyModel

    assert isinstance(found, TransformersModel)
    return TransformersSurveyModel(found)
