"""What an encoder-decoder looks at while it writes, in a notebook, as CSV and as a PNG."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING

from eyeline.views.csv_tables import explanation_csv, written
from eyeline.views.encoder_decoder_terminal import columns, found, rows_note
from eyeline.views.explanation_html import explanation_html
from eyeline.views.figure import figures, fonts, png_path, save
from eyeline.views.html_parts import COLOURS, box, escaped_percent, row, small, strong, table, title, words
from eyeline.views.labels import marked, named, printable
from eyeline.views.provenance import provenance
from eyeline.views.scale import scale_end
from eyeline.words import worded

if TYPE_CHECKING:
    from eyeline.answers import EncoderDecoderExplanation

_COLUMNS = ("layer", "head", "row_index", "row", "key_index", "key", "weight")


def encoder_decoder_html(answer: EncoderDecoderExplanation) -> str:
    """Render an explanation of all parts as an HTML fragment: cross-attention, then the two self-attentions."""
    if answer.question.token is not None:
        return explanation_html(answer)
    cross = answer.cross
    drawn = columns(answer)
    numbers = [[float(row[list(tokens)].sum()) for _, tokens in drawn] for row in answer.token_numbers]
    end = scale_end([number for line in numbers for number in line])
    asked = {token for place in (cross.word.units if cross.word else ()) for token in cross.units[place].tokens}
    rows = [row(["", *(words(named(name)) for name, _ in drawn)])]
    for place, (token, line) in enumerate(zip(cross.tokens, numbers, strict=True)):
        name = words(named(token))
        fills = [f"rgba({COLOURS[0]},{number / end:.2f})" for number in line]
        figures = [escaped_percent(number) for number in line]
        rows.append(row([f"<b>{name}</b>" if place in asked else name, *figures], fills))
    parts = [
        title(f"{answer.text} → {answer.written}", None),
        small(html.escape(provenance(answer))),
        strong(html.escape(worded("What it looks at while it writes: cross-attention"))),
        f'<div style="overflow-x:auto">{table(rows)}</div>',
        small(html.escape(rows_note(answer))),
        strong(found(answer, words)),
    ]
    return box(parts) + explanation_html(answer) + explanation_html(answer.decoder)


def encoder_decoder_csv(answer: EncoderDecoderExplanation) -> str:
    """The weight of each row of cross-attention on each token that was read; of a word that was read, the encoder's."""
    if answer.question.token is not None:
        return explanation_csv(answer)
    cross = answer.cross
    head = "mean" if cross.head is None else cross.head
    rows = (
        [cross.layer, head, i, token, j, key.text, float(cross.token_weights[i, j])]
        for i, token in enumerate(cross.tokens)
        for j, key in enumerate(answer.tokens)
    )
    return written(answer, _COLUMNS, rows)


def save_encoder_decoder(answer: EncoderDecoderExplanation, path: str | os.PathLike[str]) -> list[str]:
    """Draw the weights of cross-attention, token by token, to a PNG file; see `Answer.save_png`."""
    target = png_path(path)
    empty = figures("png")
    import matplotlib

    cross = answer.cross
    keys, rows = [named(token.text) for token in answer.tokens], [named(token) for token in cross.tokens]
    end = scale_end(answer.token_numbers.ravel().tolist())
    with matplotlib.rc_context({"font.family": fonts()}):
        figure = empty(max(0.32 * len(keys) + 2.5, 5), max(0.32 * len(rows) + 2, 4))
        lines = [f"{printable(answer.text)} → {printable(answer.written)}", provenance(answer), found(answer, marked)]
        figure.suptitle("\n".join(lines), fontsize=10).set_parse_math(False)
        panel = figure.subplots()
        image = panel.imshow(answer.token_numbers, cmap="Blues", vmin=0, vmax=end)
        panel.set_xticks(range(len(keys)), [printable(key) for key in keys], fontsize=9)
        panel.set_yticks(range(len(rows)), [printable(token) for token in rows], fontsize=9)
        for tick in (*panel.get_xticklabels(), *panel.get_yticklabels()):
            tick.set_parse_math(False)
        panel.set_xlabel(worded("is read"))
        panel.set_ylabel(worded("is written (each row sums to 100%)"))
        bar = figure.colorbar(image, ax=panel, shrink=0.6)
        bar.ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
        return save(figure, target, f"{printable(answer.text)} · {provenance(answer)}")
