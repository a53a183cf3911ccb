"""The kernels as one WebAssembly module, for the page: `kernels.wasm`, made of the same Python as the native kernels,
and `records.json`, which says how a host lays out a call. `python -m eyeline.kernels.wasm` makes both; both lie in the
package, so that installing it builds nothing.

The module exports `forward`, `product` and `rowwise`, each `(params: i64, workspace: i64, most: i64) -> i64` as the
native kernels are, and `__heap_base`, the first byte of memory that is the host's. It imports its memory alone,
`env.memory`. Numbers are float32 in vectors of 128 bits. The results are those of a processor with such vectors, except
that a multiply-add rounds twice, as WebAssembly has no other. It may import what `eyeline.kernels` may.
"""

from __future__ import annotations

from pathlib import Path

from eyeline.kernels.compiled.programs import Program

_HERE = Path(__file__).parent
#: The programs that the module exports.
EXPORTED: tuple[Program, ...] = ("forward", "product", "rowwise")
MODULE, RECORDS, OBJECTS = _HERE / "kernels.wasm", _HERE / "records.json", _HERE / "objects.json"


def module_bytes() -> bytes:
    """The WebAssembly module.

    >>> module_bytes()[:4]
    b'\\x00asm'
    """
    return MODULE.read_bytes()


def records_text() -> str:
    """`records.json`, whose fields `describing` explains."""
    return RECORDS.read_text("utf-8")
