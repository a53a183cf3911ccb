"""Running the tasks of a record that begins with the next task and their number, as those of products and row passes
do."""

from __future__ import annotations

import ctypes

from eyeline.kernels import kernel_cache, threads
from eyeline.kernels.compiled.programs import Program
from eyeline.kernels.launch import tasks_at_a_time

_from_memory = ctypes.c_char.from_buffer


def run_tasks(program: Program, memory: bytearray, workspace: int, cost: int, workers: int, held: object) -> None:
    """Run all tasks of a record of params.

    Args:
        program: the kernel.
        memory: the record. Its addresses point into `held`.
        workspace: bytes of a thread's workspace.
        cost: the multiply-adds of a task, about.
        workers: the number of threads.
        held: whatever must live until all threads have ended: this call keeps it alive.
    """
    kernel = kernel_cache.kernel(program, "float32")
    address = ctypes.addressof(_from_memory(memory))
    threads.run(kernel, address, workspace, tasks_at_a_time(cost), workers)
