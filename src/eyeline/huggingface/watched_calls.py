"""What was seen of a watched model's attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from eyeline.masks import Mask
from eyeline.readouts.observation import Observation
from eyeline.readouts.readout import PartialResult, Readout

if TYPE_CHECKING:
    import pandas

Kind = Literal["encoder self", "decoder self", "cross"]


@dataclass(frozen=True)
class WatchedCall:
    """What was read of one call of one attention module.

    Attributes:
        module: its path in the model, such as "encoder.layer.0.attention.self".
        kind: "encoder self" (all see all), "decoder self" (each sees what is before it) or "cross".
        layer: which of its kind it is in one pass through the model, counted from 0. A module that is called several
            times in a pass (ALBERT's) is several layers.
        forward: in which pass through the model, counted from 0: one for each step of `generate()`.
        heads: the heads that were looked at, counted from 0.
        first_query: the position of the first query in its sequence, which is not 0 in decoding.
        first_key: that of the first key, which is not 0 where a cache has let go of old ones.
        mask: where queries may look, beside padding; everywhere if None.
        keys: M, how many keys there were.
        real: bool, (B, N), False for queries that are padding; None if none is. What is read of them is as of queries
            that look at nothing.
        real_keys: bool, (B, M), the same for keys.
        seen: what was read, NumPy arrays, heads in the order of `heads`. Its output is left out: it is (B, H, 0, E).
    """

    module: str
    kind: Kind
    layer: int
    forward: int
    heads: tuple[int, ...]
    first_query: int
    first_key: int
    mask: Mask | None
    keys: int
    real: NDArray[np.bool_] | None
    real_keys: NDArray[np.bool_] | None
    seen: Observation

    def __repr__(self) -> str:
        B, _, N = self.seen.lse.shape
        return (
            f"<WatchedCall of {self.module} ({self.kind}, layer {self.layer}, pass {self.forward}): {B} × {N} queries>"
        )

    def answers(self) -> list[tuple[Readout, PartialResult]]:
        """Each readout that was asked, and what it read, keys by their positions in the sequence."""
        return [
            (readout, self._of_sequence(readout, found))
            for readout, found in zip(self.seen.read, self.seen.results, strict=True)
        ]

    def _of_sequence(self, readout: Readout, found: PartialResult) -> PartialResult:
        if not self.first_key:
            return found
        arrays = [
            np.where(array < 0, array, array + self.first_key) if result.kind == "keys" else array
            for array, result in zip(found.arrays, readout.results(found.shape), strict=True)
        ]
        return replace(found, arrays=tuple(arrays))

    def columns(self, table: Literal["queries", "keys"]) -> dict[str, NDArray[Any]]:
        """What was read per query or per key, by its column in `Watched.frame`, each (B, heads, N or M)."""
        columns: dict[str, NDArray[Any]] = {}
        for readout, found in self.answers():
            if readout.table(found.shape) == table:
                columns |= readout.tabulated(found)
        if table == "queries":
            columns |= {} if self.seen.sink is None else {"sink": self.seen.sink}
            columns["lse"] = self.seen.lse
        return columns

    def averaged(self) -> list[str]:
        """The columns per query that have a mean: all but numbers of keys."""
        return [name for name, column in self.columns("queries").items() if np.issubdtype(column.dtype, np.floating)]

    def mean(self, column: str) -> NDArray[Any]:
        """The mean of a number per query over the queries that are no padding, for each text and head, (B, heads).

        Args:
            column: as in the table of queries that `Watched.frame` gives: "entropy", "distance", "group_mass_0",
                "sink", "lse" …

        Raises:
            ValueError: if it is another, or wasn't read.
        """
        if column not in self.averaged():
            raise ValueError(
                f"column must be a number per query that was read ({', '.join(self.averaged())}), got {column!r}"
            )
        values = self.columns("queries")[column].astype(np.float64)
        real = np.ones(values.shape[::2], bool) if self.real is None else self.real
        counts = np.maximum(real.sum(axis=1), 1)[:, None]
        return np.asarray(np.where(real[:, None], values, 0).sum(axis=2) / counts)


def _plural(word: str) -> str:
    return "es" if word.endswith("s") else "s"


@dataclass
class Watched(Sequence[WatchedCall]):
    """All that `watch` saw, in the order in which it happened.

    Attributes:
        calls: one for each call of each module.
        missed: the paths of modules that looked at something without calling Eyeline, if any did.
    """

    calls: list[WatchedCall] = field(default_factory=list)
    missed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, index: Any) -> Any:
        return self.calls[index]

    def __iter__(self) -> Iterator[WatchedCall]:
        return iter(self.calls)

    def __repr__(self) -> str:
        passes = len({call.forward for call in self.calls})
        counts = ((len(self.calls), "call"), (len(self.modules), "module"), (passes, "pass"))
        calls, modules, passed = (f"{n} {word}{_plural(word) if n != 1 else ''}" for n, word in counts)
        return f"<Watched: {calls} of {modules} in {passed}>"

    @property
    def modules(self) -> list[str]:
        """The paths of the modules that were seen, in the order in which they were first called."""
        return list(dict.fromkeys(call.module for call in self.calls))

    def of(
        self,
        module: str | None = None,
        *,
        kind: Kind | None = None,
        layer: int | None = None,
        forward: int | None = None,
    ) -> Watched:
        """Those of one module, kind, layer or pass.

        Args:
            module: a path, or a pattern with * and ?.
            kind, layer, forward: as in `WatchedCall`.

        Raises:
            ValueError: if there is none; it says what there is.
        """
        asked = {"kind": kind, "layer": layer, "forward": forward}
        found = [
            call
            for call in self.calls
            if (module is None or fnmatchcase(call.module, module))
            and all(value is None or getattr(call, name) == value for name, value in asked.items())
        ]
        if not found:
            given = {"module": module, **asked}
            wanted = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
            raise ValueError(f"there must be such a call, got {wanted or 'nothing seen at all'}; {self._there_are()}")
        return Watched(found, self.missed)

    def _there_are(self) -> str:
        modules = self.modules
        names = ", ".join(modules[:4]) + (f" and {len(modules) - 4} more" if len(modules) > 4 else "")
        kinds = ", ".join(sorted({call.kind for call in self.calls}))
        return f"seen were {names or 'no modules'} ({kinds or 'of no kind'})"

    def frame(self, of: Literal["queries", "keys", "heads", "weights"] | None = None) -> pandas.DataFrame:
        """What was read as a pandas DataFrame, without padding.

        Args:
            of: "queries" for one line per query and head (entropy, distance, top keys, groups), "keys" for one per key
                and head (what it received), "heads" for one per head (means over the queries), "weights" for one per
                weight of the rectangle that was read. If not given, the first of these for which something was read.

        Returns:
            Its columns are module, kind, layer, forward, batch, head; query and key are positions in the sequence.

        Raises:
            ImportError: if pandas isn't installed.
            ValueError: if `of` is something else.
        """
        from eyeline.huggingface.frames import frame

        return frame(self, of)
