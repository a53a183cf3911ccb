"""The processor that is there: its vector width, and the tiles that suit it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Literal

DType = Literal["float32", "float64"]


class SettingError(ValueError):
    """An environment variable of Eyeline's that can't be."""


@dataclass(frozen=True)
class Target:
    """What kernels are compiled for.

    Attributes:
        cpu, features, triple: LLVM's names.
        bits: the width of a vector.
        vectors: how many vectors a panel of queries fills.
        rows: how many keys a tile of scores takes.
        value_rows: how many value columns the tiles of the weighted sum take.
    """

    cpu: str
    features: str
    triple: str
    bits: int
    vectors: int
    rows: int
    value_rows: tuple[int, int, int]

    def lanes(self, dtype: DType) -> int:
        return self.bits // (32 if dtype == "float32" else 64)

    def panel(self, dtype: DType) -> int:
        """How many queries lie side by side."""
        return self.lanes(dtype) * self.vectors


#: Each row of a tile takes two sums of so many vectors: 16 of 32 registers, 12 of 16; that also hides a
#: multiply-add's latency.
TILES = {512: (2, 4, (4, 2, 1)), 256: (2, 3, (3, 2, 1)), 128: (2, 3, (3, 2, 1))}


@cache
def target() -> Target:
    """This machine's target. `EYELINE_VECTOR_BITS` (128, 256 or 512) narrows the vectors, to test what others run.

    Raises:
        SettingError: if `EYELINE_VECTOR_BITS` isn't a width that this processor has.
    """
    import llvmlite.binding as llvm

    flags = llvm.get_host_cpu_features()
    widest = (
        512
        if flags.get("avx512f") and flags.get("avx512vl")
        else 256
        if flags.get("avx2") and flags.get("fma")
        else 128
    )
    asked = os.environ.get("EYELINE_VECTOR_BITS", str(widest))
    if asked not in ("128", "256", "512") or int(asked) > widest:
        raise SettingError(
            f"EYELINE_VECTOR_BITS must be 128, 256 or 512, and at most {widest} on this processor, got {asked!r}"
        )
    bits = int(asked)
    return Target(llvm.get_host_cpu_name(), flags.flatten(), llvm.get_process_triple(), bits, *TILES[bits])
