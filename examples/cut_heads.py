"""What becomes of a language model without some of its heads. `python examples/cut_heads.py`

Copying: random tokens, and then the same again. Nobody can guess them the first time; the second time they can be
copied. Induction heads, which look at what came after the earlier copy of the current token, are said to do that
(Olsson et al. 2022): so cut those that `eyeline.heads` finds, all together, and beside them as many heads drawn at
random from the others: of the same layers, and from anywhere. And the head that looks most at the token before, alone:
induction heads need one in an earlier layer, which tells each token what stands before it.

Sinks: many heads look most of all at the first token, whatever it is (Xiao et al. 2024). In all heads, its column is
cut (what is left is renormalised) or multiplied (nothing is).

It needs no GPU and takes about two minutes on two cores; `--seed` draws other tokens and other heads, `--draws` fewer.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import eyeline as el
from eyeline import edits as ed
from eyeline.edits import Edit
from eyeline.models import Model, load
from eyeline.traces import Trace

COPIED, TEXTS = 50, 8  # the tokens of one copy, and how many such texts
PROSE = (
    "The old harbour lies on the north side of the island, where the water is deep and the wind comes from the land. "
    "Every morning before sunrise the fishing boats leave in a long line, and every evening the families of the crews "
    "stand at the wall and count the lights. Nobody remembers who built the wall. Some say that it was the monks, who "
    "needed stones for a chapel and had too many; others believe that a storm threw the stones there in one night. The "
    "teacher, who has read more than the rest of us, laughs about both stories and tells a third one every year."
)

Head = tuple[int, int]


@dataclass(frozen=True)
class Losses:
    """The mean loss of a token, in nats: of the first copy, and of the second but for its first token."""

    first: float
    second: float


def repeated(vocabulary: int, texts: int, length: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """Random tokens, twice: (texts, 2 · length)."""
    once = np.stack([chance.choice(vocabulary, length, replace=False) for _ in range(texts)])
    return np.concatenate([once, once], axis=1)


def losses(model: Model, ids: NDArray[np.int64], edits: Iterable[Edit] = ()) -> NDArray[np.float64]:
    """The loss of each token but the first, in nats: (texts, tokens - 1)."""
    state = None
    for layer in model.layers(ids, edits=list(edits)):
        state = layer.state
    found = np.empty((len(ids), ids.shape[1] - 1))
    for text in range(len(ids)):  # a text at a time, since each token has as many logits as there are words
        logits = model.logits(state[text, :-1]).astype(np.float64)
        top = logits.max(axis=-1)
        total = top + np.log(np.exp(logits - top[:, None]).sum(axis=-1))
        found[text] = total - np.take_along_axis(logits, ids[text, 1:, None], axis=-1)[:, 0]
    return found


def copying(model: Model, ids: NDArray[np.int64], heads: Sequence[Head] = ()) -> Losses:
    """How well tokens are guessed the first and the second time, without these heads."""
    found, length = losses(model, ids, gates(heads)), ids.shape[1] // 2
    return Losses(float(found[:, : length - 1].mean()), float(found[:, length:].mean()))


def gates(heads: Iterable[Head]) -> list[Edit]:
    """These heads switched off."""
    return [ed.Gate(layer=layer, head=head, by=0.0) for layer, head in heads]


def labelled(found: el.Heads, label: str) -> list[Head]:
    """The heads with this label."""
    return [(one.layer, one.head) for one in found.heads if label in one.labels]


def beside(heads: Sequence[Head], count: int, chance: np.random.Generator) -> list[Head]:
    """As many heads of each layer, drawn from the others of that layer.

    Args:
        heads: the heads that aren't drawn.
        count: how many heads a layer has.
    """
    drawn: list[Head] = []
    for layer, many in sorted(Counter(layer for layer, _ in heads).items()):
        others = [head for head in range(count) if (layer, head) not in heads]
        drawn += [(layer, int(head)) for head in chance.choice(others, min(many, len(others)), replace=False)]
    return drawn


def anywhere(heads: Sequence[Head], layers: int, count: int, chance: np.random.Generator) -> list[Head]:
    """As many heads, drawn from all the others of the model."""
    others = [(layer, head) for layer in range(layers) for head in range(count) if (layer, head) not in heads]
    return [others[place] for place in chance.choice(len(others), len(heads), replace=False)]


def sink_edits() -> dict[str, list[Edit]]:
    """What is done to the first token's column in all heads; the first token itself keeps its look at itself."""
    rest = slice(1, None)
    return {
        "as trained": [],
        "cut, the rest renormalised": [ed.Cut(queries=rest, keys=0)],
        "times 0, not renormalised": [ed.Reweight(queries=rest, keys=0, by=0.0)],
        "times ½, not renormalised": [ed.Reweight(queries=rest, keys=0, by=0.5)],
    }


def first_token(text: str) -> tuple[float, float]:
    """The mean share of all heads' looks that the first token gets, by weight, and by weight times the length of what
    is passed on; the first token's own look is left out."""
    trace: Trace = el.record(text, model="smollm2", keep=["input"])
    groups = np.minimum(np.arange(len(trace.queries)), 1)
    shares = []
    for number, layer in enumerate(trace.layers):
        for times in (None, trace.passed_lengths(number)[:, None]):  # a trace's heads are a batch
            mass = layer.observe(el.GroupMass(groups, times=times)).group_mass[:, 0, 1:]
            shares.append((mass[..., 0] / mass.sum(axis=-1)).mean())
    return float(np.mean(shares[::2])), float(np.mean(shares[1::2]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=10, help="how often other heads are drawn")
    given = parser.parse_args()
    chance = np.random.default_rng(given.seed)
    model = load("smollm2")
    found = el.heads(PROSE, model="smollm2")
    induction = labelled(found, "induction")
    layers, count = model.config.layers, model.config.heads
    print(f"{len(induction)} induction heads of {layers * count}:", " ".join(f"L{a}H{b}" for a, b in induction))
    one = max(found.heads, key=lambda head: head.previous or 0.0)
    previous = (one.layer, one.head)
    ids = repeated(model.config.vocabulary_size, TEXTS, COPIED, chance)
    for name, one in (
        ("as trained", copying(model, ids)),
        ("without the induction heads", copying(model, ids, induction)),
        (f"without L{previous[0]}H{previous[1]}, which looks one token back", copying(model, ids, [previous])),
    ):
        print(f"{name:45} loss {one.first:6.2f} the first time, {one.second:6.2f} the second")
    for name, drawn in (
        ("without as many of the same layers", [beside(induction, count, chance) for _ in range(given.draws)]),
        ("without as many from anywhere", [anywhere(induction, layers, count, chance) for _ in range(given.draws)]),
    ):
        second = [copying(model, ids, heads).second for heads in drawn]
        spread = f"{min(second):.2f} to {max(second):.2f}"
        print(f"{name:45} loss {np.mean(second):6.2f} the second time, {spread} in {given.draws} draws")
    text = np.array([model.tokens(PROSE).ids])
    looked, passed = first_token(PROSE)
    print(f"\nThe first token, on {text.shape[1]} tokens of prose: {looked:.0%} of the looks of all heads,", end=" ")
    print(f"{passed:.0%} with the lengths of what is passed on. Its column, in all heads:")
    for name, edits in sink_edits().items():
        print(f"{name:45} loss {losses(model, text, edits).mean():6.2f}")


if __name__ == "__main__":
    main()
