"""A terminal's abilities: characters for drawing, and the widths of words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eyeline.views.labels import MARK, marked, named, printable
from eyeline.views.scale import Shades
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers.entries import UnitEntry

_PLAIN = {
    "→": "->",
    "√": "sqrt ",
    "×": "x",
    "÷": "/",
    "·": ".",
    "…": "...",
    "–": "-",
    "“": '"',
    "”": '"',
    "−": "-",
    "∞": "inf",
    "•": "*",
    "ˣ": "^x",
    "ᵀ": "^T",
    "Σ": "sum",
}
_LONGEST = 24  # the largest number of cells in a label


class Ink:
    """The characters and the width of one terminal.

    Args:
        encoding: the terminal's text encoding; unless it is a UTF encoding, drawings are made of ASCII.
        width: the number of cells in a line.
    """

    def __init__(self, encoding: str, width: int) -> None:
        self.encoding = encoding
        self.unicode = encoding.lower().startswith("utf")
        self.width = max(width, 20)
        self.shades = tuple(" ░▒▓█" if self.unicode else " .+%@")
        self._eighths = tuple("▏▎▍▌▋▊▉█" if self.unicode else "#")

    def words(self, text: str) -> str:
        """Make the user's words safe within a line of ours."""
        if self.unicode:
            return marked(text)
        return printable(text).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def sentence(self, text: str) -> str:
        """Make the user's whole text safe, in its own reading direction."""
        return self.own(printable(text))

    def wrapped(self, text: str, indent: int) -> list[str]:
        """Break our text into lines at spaces, indented by `indent` spaces."""
        from rich.cells import cell_len

        lines = [" " * indent]
        for word in self.own(text).split(" "):
            if len(lines[-1]) > indent and cell_len(lines[-1]) + 1 + cell_len(word) > self.width:
                lines.append(" " * indent)
            lines[-1] += word if len(lines[-1]) == indent else f" {word}"
        return lines

    def own(self, text: str) -> str:
        """Our text, with ASCII in place of signs that the terminal lacks; other characters that its encoding lacks are
        escaped."""
        if self.unicode:
            return text
        for sign, plain in _PLAIN.items():
            text = text.replace(sign, plain)
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def label(self, unit: UnitEntry) -> str:
        """The label of a bar or a row; a hyphen marks each side of a piece where its word continues."""
        return "-" * unit.joins_before + self.words(named(unit.text)) + "-" * unit.joins_after

    def bar(self, number: float, end: float, cells: int) -> str:
        """A bar from zero, `cells` cells long at `end`: number / end of them, to the nearest eighth of a cell."""
        steps = len(self._eighths)
        whole, rest = divmod(round(number / end * cells * steps), steps)
        return self._eighths[-1] * whole + (self._eighths[rest - 1] if rest else "")

    def axis(self, last: str, cells: int) -> str:
        """The axis below bars of `cells` cells: from 0 to the end of their scale.

        >>> Ink("ascii", 80).axis("50%", 20)
        '0 -------------- 50%'
        """
        line = max(cells - len(last) - 3, 0)
        return self.fit(f"0 {('─' if self.unicode else '-') * line} {last}" if line else f"0 {last}", cells)

    def shade(self, number: float, end: float) -> str:
        """One character, darker for larger numbers, on a scale from zero; the lightest is a space."""
        return self.shades[min(round(number / end * (len(self.shades) - 1)), len(self.shades) - 1)]

    def shade_legend(self, end: float, largest: float) -> str:
        """The legend: the number from which each shade is drawn on a linear scale from 0 to `end`, and the largest one
        if it is beyond.

        >>> Ink("ascii", 80).shade_legend(0.2, 0.2)
        'Shades, from 0 to 20%: .. from 2.5%, ++ from 7.5%, %% from 12.5%, @@ from 17.5%.'
        """
        top = len(self.shades) - 1
        steps = [
            worded("{shade} from {number}", shade=sign * 2, number=f"{100 * (step - 0.5) / top * end:.3g}%")
            for step, sign in enumerate(self.shades[1:], 1)
        ]
        text = worded("Shades, from 0 to {end}: {steps}.", end=f"{end:.0%}", steps=", ".join(steps))
        return text + Shades(end, largest).beyond()

    def fit(self, label: str, cells: int, right: bool = False) -> str:
        """Fit a label into exactly `cells` cells: padded with spaces, or cut with an ellipsis."""
        from rich.cells import cell_len, set_cell_size

        if cell_len(label) > cells:
            sign = "…" if self.unicode else "~"
            label = set_cell_size(label, cells - 1).rstrip() + sign + (MARK if MARK in label else "")
        space = " " * (cells - cell_len(label))
        return space + label if right else label + space

    def widest(self, labels: Iterable[str]) -> int:
        """The width of a column of labels in cells, 24 at most; longer labels are cut."""
        from rich.cells import cell_len

        return min(max(map(cell_len, labels), default=0), _LONGEST, self.width // 3)
