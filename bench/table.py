"""The README's table of speed and error, from bench/results/: `python bench/table.py` writes it, `--check` only
compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- bench: made by bench/table.py -->\n", "<!-- /bench -->\n"


def table(result: dict[str, Any]) -> str:
    torch, python = result["versions"]["torch"].split("+")[0], result["versions"]["python"]
    lines = [
        f"On {result['processor']} ({result['vector_bits']}-bit vectors), {result['threads']} threads, whose measured "
        f"peak is {result['peak_gigaflops']:.0f} GF/s; float32; torch {torch}, Python {python}. Errors are root "
        f"mean square (largest) against float64.",
        "",
        "| batch, heads, n, d | mask | Eyeline | torch | torch ÷ Eyeline | of peak | error | torch's error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in result["cases"]:
        cells = (
            case["case"].strip("()"),
            case["mask"] and f"`{case['mask']}`",
            f"{case['milliseconds']:.1f} ms",
            f"{case['torch_milliseconds']:.1f} ms",
            f"**{case['ratio']:.2f} ×**",
            f"{case['of_peak']:.0%}" if "of_peak" in case else "",
            f"{case['rms_error']:.1e} ({case['largest_error']:.1e})",
            f"{case['torch_rms_error']:.1e} ({case['torch_largest_error']:.1e})",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"A call at (1, 2, 16, 32) takes {result['small_call_microseconds']:.0f} µs from start to end. At (1, 12, "
        f"16384, 64), where the matrix alone is 12.9 GB, the process grows by "
        f"{result['extra_memory_megabytes']:.0f} MB beyond inputs and output.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    results = sorted((ROOT / "bench" / "results").glob("*.json"))
    made = "\n".join(table(json.loads(path.read_text())) for path in results)
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    written = before + BEGIN + "\n" + made + "\n" + END + after
    if "--check" in sys.argv:
        if written != readme.read_text():
            print("README.md's table is not that of bench/results/; run python bench/table.py", file=sys.stderr)
            return 1
        return 0
    readme.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
