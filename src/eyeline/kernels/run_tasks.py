"""Running the tasks of a record that begins with the next task and their number, as those of products and row passes
do."""

from __future__ import annotations

import ctypes

from eyeline.kernels import kernel_cache, threads
from eyeline.kernels.compiled.programs import Program
from eyeline.kernels.launch import BETWEEN_LOOKS, workspace_of


def run_tasks(program: Program, memory: bytearray, workspace: int, cost: int, workers: int, held: object) -> None:
    """Run all tasks of a record of params.

    Args:
        program: the kernel.
        memory: the record. Its addresses point into `held`.
        workspace: bytes of a thread's workspace.
        cost: the multiply-adds of a task, about.
        workers: the number of threads.
        held: whatever must live until all threads have ended.
    """
    kernel = kernel_cache.kernel(program, "float32")
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    at_a_time = max(1, BETWEEN_LOOKS // max(cost, 1))

    # The default argument keeps the arrays alive as long as a thread may use them.
    def work(held: object = (memory, held)) -> None:
        own = workspace_of(workspace)
        while kernel(address, own, at_a_time):
            pass  # back in Python for a moment, where Ctrl-C is noticed

    def stop() -> None:
        memory[:8] = memory[8:16]

    threads.run(work, workers, stop)
