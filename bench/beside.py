"""The READMEs' table: Eyeline beside what one would use instead, from some rows of bench/results/."""

from __future__ import annotations

from typing import Any

#: The rows, in order: of the results, the case and sizes, and the peer; and what is done, in words.
KERNELS = (
    ("forward (1, 12, 64, 32)", "torch SDPA", "attention, 64 tokens"),
    ("forward (1, 12, 2048, 64)", "torch SDPA", "attention, 2,048 tokens"),
    ("forward, causal (1, 12, 2048, 64)", "torch SDPA", "causal, 2,048 tokens"),
    ("forward, causal (1, 12, 2048, 64)", "ONNX Runtime", "causal, 2,048 tokens"),
    ("32 padded sentences (32, 12, 512, 64)", "torch SDPA", "32 padded sentences"),
    ("16 packed documents (1, 12, 8192, 64)", "FlexAttention", "16 packed documents, 8,192 tokens"),
    ("decoding (1, 32 over 8, 1 × 32768, 128)", "torch SDPA", "one new token after 32,768"),
    ("training, causal (1, 12, 512, 64)", "torch SDPA", "training, causal, 512 tokens"),
    ("output and four readouts (1, 12, 2048, 64)", "torch, the matrix", "output and four readouts, 2,048 tokens"),
)
MODELS = (
    ("minilm 32 × 128, padded from 16", "a whole MiniLM, 32 padded texts"),
    ("smollm2 1 × 2,048", "a whole SmolLM2-135M, 2,048 tokens"),
)
SURVEY = ("survey, 200 of 2,000 documents", "eager", "a survey of 111,477 tokens with MiniLM")
#: The words of the table in Vietnamese; numbers have a narrow space for the comma.
VIETNAMESE = {
    "to compute": "việc cần tính",
    "instead": "công cụ thay thế",
    "it takes": "mất",
    "Eyeline takes": "Eyeline mất",
    "ratio": "tỉ số",
    "attention, 64 tokens": "attention, 64 token",
    "attention, 2,048 tokens": "attention, 2\u202f048 token",
    "causal, 2,048 tokens": "nhân quả, 2\u202f048 token",
    "32 padded sentences": "32 câu có đệm",
    "16 packed documents, 8,192 tokens": "16 tài liệu đóng gói, 8\u202f192 token",
    "one new token after 32,768": "một token mới sau 32\u202f768",
    "training, causal, 512 tokens": "huấn luyện, nhân quả, 512 token",
    "output and four readouts, 2,048 tokens": "đầu ra và bốn readout, 2\u202f048 token",
    "a whole MiniLM, 32 padded texts": "trọn MiniLM, 32 văn bản có đệm",
    "a whole SmolLM2-135M, 2,048 tokens": "trọn SmolLM2-135M, 2\u202f048 token",
    "a survey of 111,477 tokens with MiniLM": "khảo sát 111\u202f477 token với MiniLM",
    "torch, the matrix": "torch, cả ma trận",
    "transformers on sdpa": "transformers với sdpa",
    "transformers, eager": "transformers, eager",
    "Measured on {processor}, {threads} threads, torch {torch}, with attention at once after a matrix product, as in a "
    "model.": "Đo trên {processor}, {threads} luồng, torch {torch}, attention chạy ngay sau một phép nhân ma trận, như "
    "trong mô hình.",
}


def beside(result: dict[str, Any], language: str) -> str:
    """The table of one machine's results, and what it was measured on, in "en" or "vi"."""

    def say(text: str) -> str:
        return VIETNAMESE.get(text, text) if language == "vi" else text

    def row(what: str, instead: str, theirs: str, ours: str, ratio: float) -> str:
        return f"| {say(what)} | {say(instead)} | {theirs} | {ours} | **{ratio:.2f} ×** |"

    heads = [say(name) for name in ("to compute", "instead", "it takes", "Eyeline takes", "ratio")]
    lines = [f"| {' | '.join(heads)} |", "| --- | --- | --- | --- | --- |"]
    for key, what in MODELS:
        found = result["models"][key]
        times = found["milliseconds"]
        lines.append(row(what, "transformers on sdpa", time(times["sdpa"]), time(times["eyeline"]), found["ratio"]))
    for key, name, what in KERNELS:
        case = result["kernels"][key]
        peer = next(one for one in case["peers"] if one["name"] == name)
        ours = case["ours"][peer["beside"]]["milliseconds"]["in_a_model"]
        theirs = peer["milliseconds"]["in_a_model"]
        lines.append(row(what, name, time(theirs), time(ours), peer["ratio"]["in_a_model"]))
    key, side, what = SURVEY
    survey = result["surveys"][key]
    seconds = {name: survey["tokens"] / survey["tokens_per_second"][name] for name in (side, "survey")}
    theirs, ours = (f"{seconds[name]:.0f} s, {megabytes(survey, name, language)}" for name in (side, "survey"))
    lines.append(row(what, "transformers, eager", theirs, ours, survey["ratios"][side]))
    about = say(
        "Measured on {processor}, {threads} threads, torch {torch}, with attention at once after a matrix product, as "
        "in a model."
    )
    versions = {"processor": result["processor"], "threads": result["threads"]}
    return "\n".join([*lines, "", about.format(**versions, torch=result["versions"]["torch"].split("+")[0])]) + "\n"


def megabytes(survey: dict[str, Any], name: str, language: str) -> str:
    return f"{survey['megabytes'][name]:,} MB".replace(",", "\u202f" if language == "vi" else ",")


def time(milliseconds: float) -> str:
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.3g} s"
