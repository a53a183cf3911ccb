"""How a model tells its tokens' positions apart: learned vectors, sines and cosines, or turned queries and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eyeline.models.checkpoints import Array
from eyeline.models.decoder import Decoder
from eyeline.models.encoder import Encoder
from eyeline.models.encoder_decoder import EncoderDecoder

if TYPE_CHECKING:
    from eyeline.models.network import Network


@dataclass(frozen=True, eq=False)
class ModelPositions:
    """The positions of a model.

    Attributes:
        kind: "learned": a vector of each position is added to the embedding; "sinusoidal": likewise, but of sines and
            cosines; "rotary": queries and keys are turned in every layer.
        numbers: float32. Learned and sinusoidal: the vectors, (positions, width); in models with token types, the first
            type's vector is added to each. Rotary: the angle by which each pair of a head's numbers is turned from one
            token to the next, in radians, (D/2,).
    """

    kind: Literal["learned", "sinusoidal", "rotary"]
    numbers: Array


def positions_of(network: Network) -> ModelPositions | None:
    """The positions of a network; None if it isn't known how it has them."""
    if isinstance(network, Decoder):
        return ModelPositions("rotary", network.rotary.speeds)
    if isinstance(network, EncoderDecoder):
        return ModelPositions("sinusoidal", network.positions)
    return ModelPositions("learned", network.embeddings.positions) if isinstance(network, Encoder) else None
