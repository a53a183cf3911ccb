"""What a trace keeps of the inputs of an encoder-decoder's decoder: of its self-attention and its cross-attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from eyeline.models import Layer
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.projections import AttentionParts, HeadMatrices, cross_parts, decoder_parts
from eyeline.traces.inputs import KeptInputs, LayerInput, Place

Array = NDArray[Any]
PartsOf = Callable[[EncoderDecoder, int], AttentionParts]


def decoder_inputs(
    network: EncoderDecoder, x: Array, context: Array, layers: Sequence[tuple[Layer, Layer]], heads: Sequence[Place]
) -> tuple[KeptInputs, KeptInputs]:
    """The inputs of the decoder's self-attention, and of its cross-attention.

    Args:
        network: the network that ran.
        x: its decoder's embedded tokens, (1, N, width).
        context: its encoder's vectors, (1, M, width).
        layers: each layer's self-attention and cross-attention.
        heads: the heads whose matrices a trace's file is to have.
    """
    before = [x, *(crossed.state for _, crossed in layers)]
    between = [own.state for own, _ in layers]
    own = _kept(network, decoder_parts, before, [one for one, _ in layers], None, heads)
    return own, _kept(network, cross_parts, between, [other for _, other in layers], context[0], heads)


def _kept(
    network: EncoderDecoder,
    parts_of: PartsOf,
    states: Sequence[Array],
    layers: Sequence[Layer],
    keys: Array | None,
    heads: Sequence[Place],
) -> KeptInputs:
    def find(layer: int, head: int) -> HeadMatrices:
        return parts_of(network, layer).head(head)

    inputs = []
    for number, (state, layer) in enumerate(zip(states, layers, strict=False)):
        parts, output, given = parts_of(network, number), layer.output[0], state[0]
        inputs.append(LayerInput(given, given, parts.added(output), parts.lengths(output), keys))
    return KeptInputs(tuple(inputs), find, {place: find(*place) for place in heads}, norm_after="LayerNorm")
