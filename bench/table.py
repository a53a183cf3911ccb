"""The tables of speed and error, from bench/results/: `python bench/table.py` writes the large ones into the guide and
a short one into each README; `--check` only compares.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bench.beside import beside  # noqa: E402

BEGIN, END = "<!-- bench: made by bench/table.py -->\n", "<!-- /bench -->\n"
BESIDE, BESIDE_END = "<!-- beside: made by bench/table.py -->\n", "<!-- /beside -->\n"
#: The pages, from the root: the guide's, and the READMEs with their languages.
SPEED = "docs/guide/speed.md"
READMES = {"README.md": "en", "README.vi.md": "vi"}
GRADIENTS = ("dq", "dk", "dv")
SDPA = "torch SDPA"
#: How the headline names what is compared with torch's SDPA, and the cases that it means.
HEADLINE = {
    "dense attention": "forward",
    "causal attention": "forward, causal",
    "training": "training",
    "causal training": "training, causal",
}
MODELS = {"minilm": "MiniLM", "smollm2": "SmolLM2-135M"}


def written(result: dict[str, Any]) -> str:
    """All that the guide says of one machine."""
    versions = result["versions"]
    packages = ("torch", "transformers", "onnxruntime", "jax", "keras", "python")
    peers = ", ".join(f"{name} {versions[name].split('+')[0]}" for name in packages if name in versions)
    about = (
        f"On {result['processor']} ({result['vector_bits']}-bit vectors), {result['threads']} threads, whose measured "
        f"peak is {result['peak_gigaflops']:.0f} GF/s; {peers}."
    )
    blocks = [
        headline(result),
        about,
        models_table(result["models"].values()),
        sums(result["models"].values()),
        kernels_table(result["kernels"].values()),
        " ".join([*calls(result["calls"].values()), *memory(result["memory"].values())]),
        surveys_table(result.get("surveys", {}).values()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def headline(result: dict[str, Any]) -> str:
    """The spans of the ratios in a model, and the rows that are short of their targets."""
    spans = []
    for name, case in HEADLINE.items():
        beside = (peer for row in result["kernels"].values() if row["case"] == case for peer in row["peers"])
        if found := [peer["ratio"]["in_a_model"] for peer in beside if peer["name"] == SDPA]:
            spans.append(f"{span(found)} as long for {name}")
    lines = []
    if spans:
        lines.append(f"**Inside a model, torch's SDPA takes {listed(spans)}.**")
    if rows := list(result["models"].values()):
        lines.append(
            f"**Whole models of transformers take {span([row['ratio'] for row in rows])} as long on `sdpa` as on "
            f"`eyeline`**; watched, with `TopK`, `Entropy` and `Received` of every head, `eyeline` takes "
            f"{span([row['watched_ratio'] for row in rows])} as long as not watched."
        )
    short = list(misses(result))
    lines.append(f"Short of their targets: {'; '.join(short)}." if short else "Every target is met.")
    return " ".join(lines)


def span(ratios: list[float]) -> str:
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return f"{least} ×" if least == most else f"{least} to {most} ×"


def listed(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def misses(result: dict[str, Any]) -> Iterable[str]:
    """The rows that are short of a target, in a model where there are two ways, as the tables round them."""
    for row in result["models"].values():
        if below(row["ratio"], row["target"]):
            yield f"{MODELS[row['model']]} {row['sizes']} ({row['ratio']:.2f} of {row['target']:.4g})"
        if below(row["watched_at_most"], row["watched_ratio"]):
            watched = f"{row['watched_ratio']:.2f}, at most {row['watched_at_most']:.4g}"
            yield f"{MODELS[row['model']]} {row['sizes']} watched ({watched})"
    for case in result["kernels"].values():
        for peer in case["peers"]:
            ratio, target = peer["ratio"]["in_a_model"], peer["target"]
            if target is not None and below(ratio, target):
                yield f"{case['case']} {case['sizes']} beside {peer['name']} ({ratio:.2f} of {target:.3g})"
    for row in result.get("surveys", {}).values():
        for side, ratio in row["ratios"].items():
            if below(ratio, row["targets"][side]):
                beside = f"{SURVEY_SIDES[side]} ({ratio:.2f} of {row['targets'][side]:.3g})"
                yield f"a survey of {MODELS[row['model']]}, {row['name']}, beside {beside}"
        if "minutes" in row and round(row["minutes"]) > row["at_most"]:
            minutes = f"{row['minutes']:.0f} minutes, at most {row['at_most']}"
            yield f"a survey of {MODELS[row['model']]}, {row['name']} ({minutes})"
    for row in result["calls"].values():
        for state, most in zip(("warm", "cold"), row["at_most"], strict=True):
            if round(row[state]) > most:
                yield f"a call on {row['given']}, {state} ({row[state]:.0f} µs, at most {most})"
    for row in result["memory"].values():
        if round(row["megabytes"]) > row["at_most"]:
            yield f"memory of {row['case']} ({row['megabytes']:.0f} MB, at most {row['at_most']})"


def below(ratio: float, target: float) -> bool:
    return round(ratio, 2) < round(target, 2)


def models_table(rows: Iterable[dict[str, Any]]) -> str:
    lines = [
        "| model | texts × tokens | on `sdpa` | on `eyeline` | sdpa ÷ eyeline | target | attention in it: share of "
        "sdpa's time, sdpa ÷ eyeline | watched ÷ not | outputs differ by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cells = (
            MODELS[row["model"]],
            row["sizes"],
            *(milliseconds(row["milliseconds"][side]) for side in ("sdpa", "eyeline")),
            f"**{row['ratio']:.2f} ×**",
            f"{row['target']:.4g} ×",
            f"{row['attention_share']:.0%}, {row['attention_ratio']:.2f} ×",
            f"{row['watched_ratio']:.2f} ×",
            f"{row['difference']:.0e} of {row['largest']:.2g}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def sums(rows: Iterable[dict[str, Any]]) -> str:
    """For models short of their targets: what attention's share would make of its own ratio, and the most it could."""
    lines = []
    for row in rows:
        if below(row["ratio"], row["target"]):
            share, ratio = row["attention_share"], row["attention_ratio"]
            lines.append(
                f"- {MODELS[row['model']]} {row['sizes']}: attention is {share:.1%} of `sdpa`'s time, and takes "
                f"{ratio:.2f} × as long there as ours, which makes 1 ÷ (1 − {share:.3f} + {share:.3f} ÷ {ratio:.2f}) = "
                f"{1 / (1 - share + share / ratio):.2f}; if ours took no time, it would be {1 / (1 - share):.2f}."
            )
    return "\n".join(lines)


def kernels_table(cases: Iterable[dict[str, Any]]) -> str:
    lines = [
        "| attention | batch, heads, n, d | Eyeline: time, error | Peer: time, error | peer ÷ Eyeline, in a model | "
        "alone | Target |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in cases:
        lines += case_rows(case)
    return "\n".join(lines) if len(lines) > 2 else ""


def case_rows(case: dict[str, Any]) -> list[str]:
    """One row for each peer; what they share stands in the first."""
    lines, named, before = [], [case["case"], case["sizes"]], None
    for peer in case["peers"]:
        ours = case["ours"][peer["beside"]]
        peak = f" ({ours['of_peak']['in_a_model']:.0%} of peak)" if "of_peak" in ours else ""
        target = "" if peer["target"] is None else f"{peer['target']:.3g} ×"
        cells = (
            *named,
            "" if peer["beside"] == before else f"{figures(ours)}{peak}",
            f"{peer['name']}: {figures(peer)}",
            f"**{peer['ratio']['in_a_model']:.2f} ×**",
            f"{peer['ratio']['alone']:.2f} ×",
            target,
        )
        lines.append(f"| {' | '.join(cells)} |")
        named, before = ["", ""], peer["beside"]
    return lines


def figures(side: dict[str, Any]) -> str:
    """The time in a model, and the error of the output, or of the three gradients together."""
    time, errors = milliseconds(side["milliseconds"]["in_a_model"]), side["errors"]
    if not errors:
        return time
    parts = [errors[name] for name in GRADIENTS if name in errors] or [errors["output"]]
    return f"{time}, {(sum(part['rms'] ** 2 for part in parts) / len(parts)) ** 0.5:.1e}"


def milliseconds(value: float) -> str:
    return f"{value:.3g} ms" if value < 100 else f"{value:,.0f} ms"


def calls(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [
        f"A call on {row['given']} at ({', '.join(map(str, row['sizes']))}) takes {row['warm']:.0f} µs from start to "
        f"end, and {row['cold']:.0f} µs with cold caches."
        for row in rows
    ]


def memory(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [
        f"At ({row['sizes']}), where the matrix alone would be {row['matrix_gigabytes']} GB, {row['case']} takes "
        f"{row['megabytes']:.0f} MB beyond inputs and results."
        for row in rows
    ]


#: What a survey is compared with, in the table.
SURVEY_SIDES = {
    "plain": "forward pass alone, same batches",
    "eager": "transformers, eager, the same statistics",
}


def surveys_table(rows: Iterable[dict[str, Any]]) -> str:
    lines = [
        "| survey | tokens, windows | tokens a second, memory | beside | tokens a second, memory | its time ÷ the "
        "survey's | target |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        minutes = f"; the whole in {row['minutes']:.0f} minutes" if "minutes" in row else ""
        differs = f"; mean entropies differ by {row['difference']:.0e}" if "difference" in row else ""
        named = [
            f"{MODELS[row['model']]}, {row['name']}{differs}",
            f"{row['tokens']:,}, {row['windows']:,}",
            rate(row, "survey") + minutes,
        ]
        if not row["ratios"]:
            lines.append(f"| {' | '.join([*named, '', '', '', ''])} |")
        for side, ratio in row["ratios"].items():
            cells = (*named, SURVEY_SIDES[side], rate(row, side), f"**{ratio:.2f} ×**", f"{row['targets'][side]:.3g} ×")
            lines.append(f"| {' | '.join(cells)} |")
            named = ["", "", ""]
    about = "A survey, `el.survey`, of chapters and verses of the King James Bible, which packs short documents:"
    return "\n".join([about, "", *lines]) if len(lines) > 2 else ""


def rate(row: dict[str, Any], side: str) -> str:
    return f"{row['tokens_per_second'][side]:,}, {row['megabytes'][side]:,} MB"


def pages(results: list[dict[str, Any]]) -> dict[Path, str]:
    """The pages with tables, as they should be."""
    large = "\n".join(map(written, results))
    found = {ROOT / SPEED: between((ROOT / SPEED).read_text("utf-8"), BEGIN, END, "\n" + large + "\n")}
    for name, language in READMES.items():
        short = "\n".join(beside(one, language) for one in results)
        found[ROOT / name] = between((ROOT / name).read_text("utf-8"), BESIDE, BESIDE_END, "\n" + short + "\n")
    return found


def between(text: str, begin: str, end: str, made: str) -> str:
    """A page's text with `made` between its two marks."""
    before, _, rest = text.partition(begin)
    return before + begin + made + end + rest.partition(end)[2]


def main() -> int:
    results = [json.loads(path.read_text()) for path in sorted((ROOT / "bench" / "results").glob("*.json"))]
    stale = {path: text for path, text in pages(results).items() if text != path.read_text("utf-8")}
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.name}'s tables differ from bench/results/; run python bench/table.py", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
