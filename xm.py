from dataclasses import dataclass
import numpy as np
import eyeline as el
from eyeline.masks.counts import *
def check_count(*a): pass
rng=np.random.default_rng(0)
q,k,v=(rng.standard_normal((2,4,60,16),dtype=np.float32) for _ in range(3))

from eyeline.masks import Mask
from eyeline.masks.align import standing
from eyeline.masks.lowered import one_interval


@dataclass(frozen=True, slots=True)
class Chunks(Mask):
    """Queries and keys of the same chunk of `size` tokens."""

    size: int

    def __post_init__(self):
        if not isinstance(self.size, int) or self.size < 1:
            raise ValueError(f"size must be a whole number, 1 or more, got {self.size!r}")

    def _chunk(self, shape):
        """The number of each query's chunk, (N,); an error where it isn't said where queries stand among keys."""
        return standing(shape, None, repr(self))[:, 0] // self.size

    def rule(self, shape):
        return self._chunk(shape)[:, None] == np.arange(shape.keys) // self.size

    def lower(self, shape):
        first = self._chunk(shape) * self.size
        return one_interval(first, first + self.size, shape.keys)


mask = el.Causal() & Chunks(4)
print(mask.draw(12))

assert repr(mask) == "Causal() & Chunks(size=4)"
assert round(Chunks(256).share(8192), 4) == 0.0312
seen = el.observe(q, k, v, mask=mask, read=[el.Weights()])
truth = el.reference.observe(q, k, v, mask=mask, read=[el.Weights()])
np.testing.assert_allclose(seen.weights, truth.weights, atol=1e-6)

from eyeline.masks import AttentionShape

for tokens in (0, 1, 7, 8, 9):
    shape = AttentionShape((1,), 1, tokens, tokens)
    bounds = Chunks(4).lower(shape).bounds[0, 0]
    j = np.arange(tokens)
    said = ((bounds[..., :1] <= j) & (j < bounds[..., 1:])).any(axis=1)
    np.testing.assert_array_equal(np.broadcast_to(said, (tokens, tokens)), Chunks(4).dense(tokens))

from eyeline.scores import Relative, Score
from eyeline.scores.arrays import beside
from eyeline.scores.score import ALL


@dataclass(frozen=True)
class Recency(Score):
    """Takes `rate` · (i - j) from the score of query i and key j."""

    rate: float

    def apply(self, s, shape, queries=ALL, keys=ALL):
        i, j = np.arange(shape.queries)[queries, None], np.arange(shape.keys)[keys]
        return s - self.rate * beside(s, i - j)

    def lower(self, shape):
        return Relative(-self.rate * np.arange(1.0 - shape.keys, shape.queries)[None])  # of each i - j


seen = el.observe(q, k, v, mask=el.Causal(), scores=[Recency(0.5), el.Softcap(20.0)], read=[el.MeanDistance()])
truth = el.reference.observe(q, k, v, mask=el.Causal(), scores=[Recency(0.5), el.Softcap(20.0)], read=[el.MeanDistance()])
np.testing.assert_allclose(seen.mean_distance, truth.mean_distance, rtol=1e-4)
assert (seen.mean_distance.mean() < el.observe(q, k, v, mask=el.Causal(), read=[el.MeanDistance()]).mean_distance.mean())
