"""The networks that `load` supports, chosen by config.json; all have the same two methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eyeline.edits import ModelEdits
from eyeline.masks import Mask
from eyeline.models.checkpoints import Array, StoredMatrix, weights_file
from eyeline.models.config import Config, ConfigSettings
from eyeline.models.decoder import read_decoder
from eyeline.models.decoder_config import DECODERS, decoder_config
from eyeline.models.encoder import read_encoder
from eyeline.models.encoder_decoder import read_encoder_decoder
from eyeline.models.encoder_decoder_config import ENCODER_DECODER, encoder_decoder_config
from eyeline.models.families import FAMILIES, encoder_config
from eyeline.models.run import Layer
from eyeline.readouts import Readout
from eyeline.words import worded


class Network(Protocol):
    """An encoder or a decoder; of an encoder-decoder, its encoder."""

    @property
    def words(self) -> StoredMatrix:
        """The embedding matrix, a row for each token id."""

    def embed(self, ids: NDArray[np.int64]) -> Array:
        """The tokens' embeddings, (B, N, width)."""

    def layers(
        self,
        x: Array,
        mask: Mask | None,
        scale: float | None,
        read: Sequence[Readout] = (),
        *,
        edits: ModelEdits | None = None,
        first: int = 0,
    ) -> Iterator[Layer]:
        """Run the layers from `first` on, on tokens x, (B, N, width); yields each layer."""


def read_network(folder: Path) -> tuple[Config, Network]:
    """Read the configuration and the network from a folder.

    Raises:
        ModelError: if the family isn't supported, or a file is missing, damaged or of another model.
    """
    settings = ConfigSettings(folder / "config.json")
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in READERS:
        settings.wrong("model_type", worded("one that Eyeline runs ({kinds})", kinds=", ".join(READERS)))
    return READERS[kind](settings, weights_file(folder))


def _encoder(settings: ConfigSettings, weights: Path) -> tuple[Config, Network]:
    config = encoder_config(settings)
    return config, read_encoder(weights, config)


def _decoder(settings: ConfigSettings, weights: Path) -> tuple[Config, Network]:
    config = decoder_config(settings)
    return config, read_decoder(weights, config)


def _encoder_decoder(settings: ConfigSettings, weights: Path) -> tuple[Config, Network]:
    config = encoder_decoder_config(settings)
    return config, read_encoder_decoder(weights, config)


#: The readers of families that run in NumPy, by config.json's model_type: (settings, weights file) → network.
READERS: dict[str, Callable[[ConfigSettings, Path], tuple[Config, Network]]] = {
    **dict.fromkeys(FAMILIES, _encoder),
    **dict.fromkeys(DECODERS, _decoder),
    ENCODER_DECODER: _encoder_decoder,
}
