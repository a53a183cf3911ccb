"""Examples of every command: below its help, and five of them where `eyeline` is called alone."""

from __future__ import annotations

from eyeline.words import worded

#: By the command's name, as typed after `eyeline`; each runs as it stands, but for names of files of the user's.
EXAMPLES = {
    "explain": (
        'eyeline explain "time flies like an arrow" --token flies',
        'eyeline explain "time flies like an arrow" --token flies --steps --layer 5 --head 3',
        'eyeline explain "The capital of France is" --model smollm2 --generate 5',
        'eyeline explain "Con ruồi đậu mâm xôi đậu." --token ruồi --model e5 --html page.html',
    ),
    "compare": (
        'eyeline compare "time flies like an arrow" "fruit flies like a banana" --token flies',
        'eyeline compare "Con ruồi đậu mâm xôi." "Đĩa xôi đậu ngon." --token đậu --model e5',
    ),
    "heads": (
        'eyeline heads "time flies like an arrow; fruit flies like a banana"',
        "eyeline heads notes.txt --model smollm2",
    ),
    "effects": (
        'eyeline effects "The capital of France is" --model smollm2 --next " Paris"',
        'eyeline effects "time flies like an arrow" --token flies',
    ),
    "why": ('eyeline why "time flies like an arrow" --token flies --key time --layer 5 --head 2',),
    "view": (
        'eyeline view "time flies like an arrow"',
        'eyeline view "time flies like an arrow" "fruit flies like a banana"',
        "eyeline view notes.txt --no-browser",
    ),
    "lesson": ("eyeline lesson", "eyeline lesson --html lesson.html"),
    "live": ("eyeline live --out lesson.html", "eyeline live --folder site"),
    "toy": ("eyeline toy", 'eyeline toy --q "1,0; 0,1; 1,1" --mask causal', "eyeline toy --html toy.html"),
    "survey": (
        "eyeline survey texts/ --out survey",
        'eyeline survey "corpus/*.parquet" --column text --model smollm2 --out survey',
        "eyeline view survey",
    ),
    "embed": ("eyeline embed lines.txt -o vectors.npy", "eyeline embed lines.txt -o vectors.npy --model e5"),
    "models": ("eyeline models", "eyeline models get e5"),
    "models get": ("eyeline models get e5",),
    "bench": ("eyeline bench", "eyeline bench growth"),
    "bench growth": ("eyeline bench growth", "eyeline bench growth --longest 4096 --figure growth.png"),
    "doctor": ("eyeline doctor",),
}


def first_look() -> str:
    """What `eyeline` alone prints: what it is, and five examples to copy."""
    shown = (
        (worded("whom a word looks at"), EXAMPLES["explain"][0]),
        (worded("the formula, step by step"), EXAMPLES["explain"][1]),
        (worded("one word in two contexts"), EXAMPLES["compare"][0]),
        (worded("what every head does"), EXAMPLES["heads"][0]),
        (worded("the page, in your browser"), EXAMPLES["view"][0]),
    )
    lines = [
        worded("Eyeline: exact self-attention you can look into, at any length."),
        worded("Which tokens does a word look at, and why? Ask a real model about your own sentence:"),
    ]
    for what, command in shown:
        lines += ["", f"  {what}", f"    {command}"]
    more = worded("`eyeline --help` lists all commands, `eyeline COMMAND -h` the options of one.")
    return "\n".join([*lines, "", more])
