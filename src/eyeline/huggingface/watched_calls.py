"""The readouts of all attention calls of a watched model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from eyeline.huggingface.frames import Table, frame
from eyeline.huggingface.watched_call import Kind, WatchedCall
from eyeline.words import worded

if TYPE_CHECKING:
    import pandas


@dataclass
class Watched(Sequence[WatchedCall]):
    """The readouts that `watch` collected, one entry per call, in the order of the calls.

    Attributes:
        calls: one entry per call of each module.
        missed: the paths of attention modules that ran without calling Eyeline, if any did.
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
        """The paths of the watched modules, in the order in which they were first called."""
        return list(dict.fromkeys(call.module for call in self.calls))

    def of(
        self,
        module: str | None = None,
        *,
        kind: Kind | None = None,
        layer: int | None = None,
        forward: int | None = None,
    ) -> Watched:
        """The calls of one module, kind, layer or pass.

        Args:
            module: a path, or a pattern with * and ?.
            kind, layer, forward: as in `WatchedCall`.

        Raises:
            ValueError: if there is none; the message lists the calls that exist.
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
            raise ValueError(
                worded(
                    "there must be such a call, got {value}; {there_are}",
                    value=wanted or worded("none at all"),
                    there_are=self._there_are(),
                )
            )
        return Watched(found, self.missed)

    def _there_are(self) -> str:
        modules = self.modules
        names = ", ".join(modules[:4])
        if len(modules) > 4:
            names = worded("{names} and {count} more", names=names, count=len(modules) - 4)
        return worded(
            "watched were {names} ({kinds})",
            names=names or worded("no modules"),
            kinds=", ".join(sorted({call.kind for call in self.calls})) or worded("of no kind"),
        )

    def frame(self, of: Table | None = None) -> pandas.DataFrame:
        """The readouts as a pandas DataFrame, without padding.

        Args:
            of: "queries" for one row per query and head, "keys" for one per key and head, "heads" for one per head (the
                means over its queries), "weights" for one per weight of the rectangle that was read. Every readout has
                its columns in one of these tables (entropy, distance, top_1_key, received …). By default, the first of
                queries, keys and weights that has readouts.

        Returns:
            A table whose first columns are module, kind, layer, forward, batch and head, then query and key (positions
            in the sequence), then the readouts.

        Raises:
            ImportError: if pandas isn't installed.
            ValueError: if `of` is none of these.
        """
        return frame(self.calls, of)


def _plural(word: str) -> str:
    return "es" if word.endswith("s") else "s"
