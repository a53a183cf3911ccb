"""What is measured of one block of documents."""

from __future__ import annotations

from collections.abc import Sequence

from eyeline.surveys.batches import batches
from eyeline.surveys.document import Document, Skipped
from eyeline.surveys.examples import BlockExamples
from eyeline.surveys.readers import SurveyModel
from eyeline.surveys.settings import Settings
from eyeline.surveys.sums import BlockSums
from eyeline.surveys.tally import BlockTally, DocumentTally
from eyeline.surveys.token_types import Classes, TokenTypes
from eyeline.surveys.typed_tokens import UnreadError
from eyeline.surveys.windows import windows_of_all


def measure(
    model: SurveyModel, documents: Sequence[Document], settings: Settings, classes: Classes | None = None
) -> BlockTally:
    """Measure one block of documents: every head of every layer.

    The documents are cut into windows, which the model reads in batches, in their order; the figures depend on the
    documents, the model and the settings alone. Memory doesn't grow with the length of a document.

    Args:
        model: the model.
        documents: the block's documents, in the corpus' order, each with a number of its own.
        settings: the settings.
        classes: a function that labels tokens, called with the `Tokens` of a text; see `TokenTypes`.

    Returns:
        The sums. Documents without a word, and those that can't be read, are listed in `skipped`.

    Raises:
        SurveyError: if `classes` fails or gives something other than labels, or the window has no room for a token.
    """
    types = TokenTypes(classes)
    sums = BlockSums(model.layers, model.heads, types)
    examples = BlockExamples(model.layers, model.heads, model.causal, settings)
    skipped: list[Skipped] = []

    def skip(document: Document, error: UnreadError) -> None:
        skipped.append(Skipped(document.file, document.place, error.reason, error.detail))

    windows = windows_of_all(documents, model.tokens, settings, model.causal, types, skip)
    for batch in batches(windows, types.names, model.together):
        sums.begin(batch)
        examples.begin(batch)
        for layer, looks in enumerate(model.looks(batch.windows, batch.types, batch.count)):
            sums.add(layer, looks, batch)
            examples.add(layer, looks, batch)
        sums.end(batch)
        examples.end(batch)
    measured = []
    for document in documents:
        found = sums.documents.get(document.number)
        if found is not None:
            measured.append(
                DocumentTally(
                    document.number,
                    document.file,
                    document.place,
                    len(document.text),
                    found.tokens,
                    found.windows,
                    found.means(),
                )
            )
    return BlockTally(
        sums.tokens,
        sums.text_tokens,
        measured,
        sums.entropy,
        sums.distance,
        sums.entropy_squares,
        sums.offsets,
        sums.entropies,
        sums.largest,
        sums.special,
        sums.groups(),
        examples.found(),
        skipped,
    )
