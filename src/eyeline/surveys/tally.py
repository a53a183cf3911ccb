"""What is counted of one block of documents, and of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyeline.surveys.document import Skipped

Sums = NDArray[np.float64]
Counts = NDArray[np.int64]

#: The measures of a document, in the words of `eyeline.answers.behaviour.head_measures`.
MEASURES = (
    "entropy",
    "distance",
    "previous",
    "next",
    "same",
    "first",
    "special",
    "separator",
    "punctuation",
    "sink",
)


@dataclass(frozen=True, eq=False)
class DocumentTally:
    """The measures of one document.

    Attributes:
        number, file, place: as in `Document`.
        characters, tokens, windows: the text's size; tokens are those that were counted, special ones included.
        measures: each of `MEASURES`, float32, (L, H); NaN where the document has no such token.
    """

    number: int
    file: str
    place: int
    characters: int
    tokens: int
    windows: int
    measures: dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Example:
    """A token's look: where it looks, in its context.

    Attributes:
        layer, head: the head, from 0.
        sort: "largest" or "sample".
        order: the look's place among all looks of that sort: smallest first. Of a sample, the token's hash; of the
            largest, the hash again, which decides between equal weights.
        weight: its largest weight.
        document, file, place: as in `Document`: number, file and place.
        window: the number of the window in its document, from 0.
        query, key: the positions of the token and of the key of largest weight, in the window.
        tokens: the tokens around it and around its strongest keys as text, each with the spaces before it, so that
            neighbours joined give the text; special tokens by their names.
        positions: each one's position in the window, ascending; a gap is text that is left out.
        weights: each one's weight, 0 for all but the strongest keys.
        special: which of them are special tokens.
    """

    layer: int
    head: int
    sort: str
    order: int
    weight: float
    document: int
    file: str
    place: int
    window: int
    query: int
    key: int
    tokens: tuple[str, ...]
    positions: tuple[int, ...]
    weights: tuple[float, ...]
    special: tuple[bool, ...]


@dataclass(eq=False)
class GroupTally:
    """The looks of the counted tokens of one type in one range of positions, summed.

    Attributes:
        count: how many tokens.
        entropy, distance: the sums over these tokens as queries, (L, H).
        received: the sum of what they receive as keys from their windows' queries, (L, H).
        to: the sums of their weight on each type of key, by the type's name, (L, H) each.
    """

    count: int
    entropy: Sums
    distance: Sums
    received: Sums
    to: dict[str, Sums]


@dataclass(eq=False)
class BlockTally:
    """One block of documents, measured. All sums are over the counted tokens as queries, float64; L layers, H heads.

    Attributes:
        tokens: how many tokens were counted, special ones included.
        text_tokens: how many of them are text.
        documents: each document's measures.
        entropy, distance: sums, (L, H).
        entropy_squares: the sum of squares of the entropy, (L, H).
        offsets: the weight on each range of `OFFSET_EDGES`, summed, (L, H, ranges).
        entropies: how many tokens have an entropy in each range of `ENTROPY_EDGES`, (L, H, ranges).
        largest: how many have a largest weight in each range of `LARGEST_EDGES`, (L, H, ranges).
        special: the weight on special tokens, the first included if it is one, summed, (L, H).
        groups: by (type, range of `POSITION_EDGES`).
        examples: the first of each head's looks of each sort, by weight or by hash.
        skipped: what could not be measured.
    """

    tokens: int
    text_tokens: int
    documents: list[DocumentTally]
    entropy: Sums
    distance: Sums
    entropy_squares: Sums
    offsets: Sums
    entropies: Counts
    largest: Counts
    special: Sums
    groups: dict[tuple[str, int], GroupTally]
    examples: list[Example]
    skipped: list[Skipped]
