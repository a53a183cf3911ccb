"""The groups of a text's tokens: the first token, special tokens, and punctuation."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eyeline.models import Tokens
from eyeline.readouts import GroupMass

Flags = NDArray[np.bool_]
#: The groups of `TokenGroups.readout`.
FIRST, SPECIAL, PUNCTUATION = range(3)


@dataclass(frozen=True)
class TokenGroups:
    """Two groups of tokens; the first token is a group of its own.

    Attributes:
        special: which tokens the tokenizer added, bool, (N,).
        punctuation: which tokens are punctuation, bool, (N,).
    """

    special: Flags
    punctuation: Flags

    @cached_property
    def readout(self) -> GroupMass:
        """The readout of the weight on the first token, and on special tokens and punctuation after it."""
        groups = np.where(self.special, SPECIAL, np.where(self.punctuation, PUNCTUATION, -1))
        groups[:1] = FIRST
        return GroupMass(groups, 3)


def groups_of(tokens: Tokens) -> TokenGroups:
    """Group a text's tokens.

    >>> from eyeline.models import load
    >>> found = groups_of(load("minilm").tokens("Well, time flies..."))
    >>> found.special.astype(int)
    array([1, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> found.punctuation.astype(int)
    array([0, 0, 1, 0, 0, 1, 1, 1, 0])
    """
    special = np.array(tokens.special, np.bool_)
    texts = (tokens.text[first:last] for first, last in tokens.offsets)
    return TokenGroups(special, ~special & np.array([is_punctuation(text) for text in texts], np.bool_))


def is_punctuation(text: str) -> bool:
    """Whether a token's text, apart from spaces, is only punctuation (Unicode's general category P).

    >>> [is_punctuation(text) for text in (",", " .", "«", "—", "...", "a.", "$", " ", "")]
    [True, True, True, True, True, False, False, False, False]
    """
    signs = text.strip()
    return bool(signs) and all(unicodedata.category(sign)[0] == "P" for sign in signs)
