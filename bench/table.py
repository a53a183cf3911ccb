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
GRADIENTS = ("dq", "dk", "dv")


def table(result: dict[str, Any]) -> str:
    versions = result["versions"]
    packages = ("torch", "onnxruntime", "jax", "keras", "python")
    peers = ", ".join(f"{name} {versions[name].split('+')[0]}" for name in packages if name in versions)
    lines = [
        f"On {result['processor']} ({result['vector_bits']}-bit vectors), {result['threads']} threads, whose measured "
        f"peak is {result['peak_gigaflops']:.0f} GF/s; {peers}. Errors are root mean square (largest) against float64, "
        f"of the output, and in training of the gradients.",
        "",
        "| | batch, heads, n, d | Eyeline | error | Peer | its time | its error | its time ÷ ours | Target |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in result["cases"].values():
        lines += rows(case)
    said = [
        f"At ({case['sizes']}), where the matrix alone would be {case['matrix_gigabytes']} GB, {case['case']} takes "
        f"{case['megabytes']:.0f} MB beyond inputs and results."
        for case in result["memory"].values()
    ]
    if "small_call_microseconds" in result:
        said.insert(0, f"A call at (1, 2, 16, 32) takes {result['small_call_microseconds']:.0f} µs from start to end.")
    return "\n".join([*lines, "", " ".join(said), ""])


def rows(case: dict[str, Any]) -> list[str]:
    """One row for each peer; our own figures stand in the first."""
    ours = case["ours"]
    peak = f" ({case['of_peak']:.0%} of peak)" if "of_peak" in case else ""
    first = [case["case"], case["sizes"], f"{milliseconds(ours)}{peak}", error(ours)]
    lines = []
    for peer in case["peers"]:
        target = "" if peer["target"] is None else f"{peer['target']:.4g} ×"
        cells = (peer["name"], milliseconds(peer), error(peer), f"**{peer['ratio']:.2f} ×**", target)
        lines.append(f"| {' | '.join([*first, *cells])} |")
        first = [""] * len(first)
    return lines


def milliseconds(side: dict[str, Any]) -> str:
    return f"{side['milliseconds']:.3g} ms" if side["milliseconds"] < 100 else f"{side['milliseconds']:.0f} ms"


def error(side: dict[str, Any]) -> str:
    """The error of the output, or of the three gradients together."""
    errors = side["errors"]
    if not errors:
        return ""
    parts = [errors[name] for name in GRADIENTS if name in errors] or [errors["output"]]
    rms = (sum(part["rms"] ** 2 for part in parts) / len(parts)) ** 0.5
    return f"{rms:.1e} ({max(part['largest'] for part in parts):.1e})"


def main() -> int:
    results = sorted((ROOT / "bench" / "results").glob("*.json"))
    made = "\n".join(table(json.loads(path.read_text())) for path in results)
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    written = before + BEGIN + "\n" + made + "\n" + END + after
    if "--check" in sys.argv:
        if written != readme.read_text():
            print("README.md's table differs from bench/results/; run python bench/table.py", file=sys.stderr)
            return 1
        return 0
    readme.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
