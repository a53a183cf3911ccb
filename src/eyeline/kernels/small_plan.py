"""Small calls: one thread's work, run by a single native call that fills in the addresses itself.

What Python does between a model and a kernel takes longer than a small kernel, above all where caches are cold, as they
are after a product. So here the params are copied, and the addresses filled in, in machine code (`region.ll`).
"""

from __future__ import annotations

import ctypes

from eyeline.kernels import kernel_cache, threads
from eyeline.kernels.launch import Params
from eyeline.kernels.layouts import offset, whole_lines
from eyeline.kernels.region import code

#: The most multiply-adds of a small call: some milliseconds, during which Ctrl-C has to wait.
MOST_WORK = 1 << 25
#: A number of tasks that no small call has.
_ALL = 1 << 30


class SmallPlan:
    """A plan whose calls are small.

    Args:
        params: all but addresses; it is kept, and not changed.
        rows: the number of rows, for their maxima and sums, which nobody will see.
        result: the field that a run returns.
    """

    def __init__(self, params: Params, rows: int, result: str) -> None:
        program = params.program
        self._held = params  # and with it, what its addresses point to
        self._template = ctypes.create_string_buffer(params.template, len(params.template))
        totals = whole_lines(rows * 8)
        m = whole_lines(len(params.template))
        places = (offset(program, name) // 8 for name in ("q", "k", "v", "m", "l", "output"))
        self._fields = (ctypes.c_int64 * 16)(
            ctypes.c_int64.from_buffer(kernel_cache.kernel(program, params.dtype)).value,  # type: ignore[arg-type]
            ctypes.addressof(self._template),
            len(params.template) // 8,
            *places,
            *params.shifts,
            m,
            m + totals,
            m + 2 * totals,
            _ALL,
            offset(program, result) // 8,
        )
        self._address, self._small = ctypes.addressof(self._fields), code().small
        self._room = m + 2 * totals + params.workspace_size

    def run(self, q: int, k: int, v: int, output: int, changes: Changes | None = None) -> int:
        """Fill the output at this address from q, k and v at theirs. Returns the plan's result."""
        at = _NOTHING.address if changes is None else changes.address
        memory = threads.workspace(self._room)
        return self._small(self._address, at, q, k, v, output, memory[0])


class Changes:
    """Words of the params that are others than the plan's.

    Attributes:
        words: by their places, in bytes.
        address: of the same as `region.ll` reads it.
    """

    def __init__(self, words: dict[int, int]) -> None:
        self.words = words
        flat = [number for place, word in words.items() for number in (place // 8, word)]
        self._memory = (ctypes.c_int64 * (1 + len(flat)))(len(words), *flat)
        self.address = ctypes.addressof(self._memory)


_NOTHING = Changes({})
