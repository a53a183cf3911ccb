"""The processor of this machine: its vector width, and the sizes of tiles for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Literal

from eyeline.words import worded

DType = Literal["float32", "float64"]


class SettingError(ValueError):
    """An invalid value of one of Eyeline's environment variables."""


@dataclass(frozen=True)
class Target:
    """The processor and tile sizes that kernels are compiled for.

    Attributes:
        cpu, features, triple: LLVM's names.
        bits: the width of a vector.
        vectors: the number of vectors in a panel of queries.
        rows: the number of keys in a tile of scores.
        added_rows: the numbers of rows in the tiles of products that are added up, backward and in decoding.
    """

    cpu: str
    features: str
    triple: str
    bits: int
    vectors: int
    rows: int
    added_rows: tuple[int, int, int]

    def lanes(self, dtype: DType) -> int:
        return self.bits // (32 if dtype == "float32" else 64)

    def panel(self, dtype: DType) -> int:
        """The number of queries in a panel."""
        return self.lanes(dtype) * self.vectors


#: (vectors, rows, added_rows) by vector width. Each row of a tile has two sums per vector: 16 of 32 registers, or 12 of
#: 16, which also hides the latency of a multiply-add.
TILES = {512: (2, 4, (4, 2, 1)), 256: (2, 3, (3, 2, 1)), 128: (2, 3, (3, 2, 1))}

#: WebAssembly of 32-bit addresses with vectors, as every browser has had it since 2023. Its tiles of scores have one
#: sum per vector (`webassembly_tiles`).
WEBASSEMBLY = Target(
    "generic",
    "+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint",
    "wasm32-unknown-unknown",
    bits=128,
    vectors=2,
    rows=4,
    added_rows=(3, 2, 1),
)


@cache
def target() -> Target:
    """This machine's target. `EYELINE_VECTOR_BITS` (128, 256 or 512) narrows the vectors, to test other machines' code.

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
    setting = os.environ.get("EYELINE_VECTOR_BITS", str(widest))
    if setting not in ("128", "256", "512") or int(setting) > widest:
        raise SettingError(
            worded(
                "EYELINE_VECTOR_BITS must be 128, 256 or 512, and at most {widest} on this processor, got {setting!r}",
                widest=widest,
                setting=setting,
            )
        )
    bits = int(setting)
    return Target(llvm.get_host_cpu_name(), flags.flatten(), llvm.get_process_triple(), bits, *TILES[bits])
