"""`explain`: record a text, and explain its attention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from eyeline.answers.explained_traces import Asked, explained
from eyeline.answers.explaining_parts import explain_parts, recorded_parts
from eyeline.answers.explanation import Explanation
from eyeline.answers.generation import asked, check_room, generated
from eyeline.answers.question import QuestionError, asked_model, check_special, named_mask, positive, read_text, where
from eyeline.edits import Edit, several
from eyeline.masks import Mask
from eyeline.models.units import units_of
from eyeline.traces import Keep, TextModel, record_text
from eyeline.traces.keep import SHORT, check_list, keep_of, short
from eyeline.traces.own_encoder_decoder import OwnEncoderDecoder
from eyeline.traces.text_model import AnyModel
from eyeline.traces.word_search import find
from eyeline.words import worded


def explain(
    text: str,
    token: str | None = None,
    *,
    nth: int | None = None,
    layer: int | None = None,
    head: int | None = None,
    steps: bool = False,
    pieces: bool = False,
    special: bool = False,
    shares: bool = False,
    mask: Mask | Literal["causal"] | None = None,
    scale: float | None = None,
    edits: Sequence[Edit] | Edit = (),
    generate: int | None = None,
    temperature: float | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    top: int | None = None,
    keep: Sequence[str] = (),
    model: AnyModel | TextModel = "minilm",
    tokenizer: Any = None,
    kind: Literal["encoder", "decoder", "cross"] | None = None,
    target: str | None = None,
    progress: Callable[[str], None] | None = None,
    layer_done: Callable[[int, int], None] | None = None,
    said: Callable[[str], None] | None = None,
) -> Explanation:
    """Show which words a token looks at; or, without a token, the attention between all words.

    Args:
        text: one or more words, with at most as many tokens as the model has positions.
        token: the query word, spelled exactly or nearly so, or several words in a row.
        nth: which occurrence, from 1, if the word occurs more than once.
        layer: counted from 0; the last if not given.
        head: counted from 0; the mean over all if not given.
        steps: also keep attention step by step, for `head` or, if not given, for the head with the largest weight on
            one word.
        pieces: show the tokenizer's pieces instead of words. Over keys, a word's weight is the sum over its pieces;
            over queries, the mean.
        special: draw special tokens ([CLS], [SEP]) one by one, and not as one part of the row; with a decoder, the
            first word too.
        shares: draw shares of the words alone, which sum to 1, and not weights: special tokens are left out.
        mask: "causal" (no looking ahead) or any mask: the model runs as trained, and again with it.
        scale: the factor of the scores, such as 1.0 for no scaling: the model runs as trained, and again with it.
        edits: what is changed in some heads (`eyeline.edits`): the model runs as trained, and again with it. With
            `generate`, the text is what the changed model generates.
        generate: the number of tokens that a decoder generates; `token` may be one of them.
        temperature: the sampling temperature; if not given, the most probable token is taken.
        top_p: sample only from the most probable tokens that together have this probability.
        seed: the seed of the sampling: the same seed gives the same tokens.
        top: draw at most this number of words, those with the largest weight, and say how many more there are. The
            answer holds all.
        keep: what else the traces keep, as for `record`: "input", and heads such as "L0H3", for `Trace.projections` and
            a page's file.
        model: a name from the catalogue, a folder, or a loaded model of Eyeline's or of transformers. A folder whose
            family Eyeline doesn't implement in NumPy runs through transformers, if that is installed.
        tokenizer: the tokenizer of a model of transformers.
        kind: for an encoder-decoder, the part to explain: "encoder", the text's self-attention; "decoder", that of its
            answer, which then is the text; or "cross", all three, with `token` a word of the answer. The default is
            "encoder" with a model of transformers; with Eyeline's own it is all three, with `token` a word of either.
        target: the answer, for an encoder-decoder with kind="decoder" or "cross"; the model's own if not given.
        progress: called with a line of text at each step of fetching a model.
        layer_done: called after each layer with the number of finished layers and of all layers.
        said: called with each piece of generated text.

    Returns:
        `Explanation`, which prints itself, and draws itself in a notebook; an `EncoderDecoderExplanation` if it is of
        all three parts of an encoder-decoder.

    Raises:
        TraceError: if a model of transformers is given without its tokenizer, or with an argument that it doesn't take.
        QuestionError: if the text, the token, the layer or the head is invalid; a ValueError.
        EditError: if the model hasn't an edit's layer or head, or a word of it isn't in the text, or is in it twice; a
            ValueError.
        ModelError: if the model is unknown or its files are invalid; a ValueError.

    >>> seen = explain("time flies like an arrow", "flies")
    >>> dict(zip(seen.words, seen.weights.round(2).tolist()))
    {'time': 0.17, 'flies': 0.14, 'like': 0.06, 'an': 0.05, 'arrow': 0.11}
    >>> explain("The capital of France is", generate=1, model="smollm2").text
    'The capital of France is Paris'
    >>> explain("3rd of March, 2021", model="dates").written
    '2021-03-03'
    """
    asked_mask, mask_name = named_mask(mask)
    if steps and token is None:
        raise QuestionError(
            worded("token must be given with steps"),
            worded("steps are those of one token: add token=..."),
            worded("add --token WORD"),
        )
    if nth is not None and token is None:
        raise QuestionError(worded("token must be given with nth"), worded("add token=..."), worded("add --token WORD"))
    check_special(special, shares)
    check_list(keep)
    if scale is not None and not np.isfinite(scale):
        raise QuestionError(worded("scale must be a finite number, got {scale!r}", scale=scale))
    changes = several(edits)
    top, wanted = positive("top", top), asked(generate, temperature, top_p, seed)
    question = Asked(token, nth, layer, head, steps, pieces, special, shares, top)
    named = ["input", *keep] if steps else keep
    if isinstance(text, str) and not text.strip():
        raise QuestionError(worded("text must have at least one word, got {text!r}", text=text[:20]))
    runs_on = asked_model(model, tokenizer, _part(kind, target), target, progress)
    if kind == "cross" or (kind is None and isinstance(runs_on, OwnEncoderDecoder)):
        if wanted is not None:
            raise QuestionError(worded("generate must be left out with an encoder-decoder, which writes by itself"))
        refused = {"mask": asked_mask, "scale": scale}
        for one, value in ((one, value) for one, value in refused.items() if value is not None):
            raise QuestionError(
                worded(
                    "{name} must be left out with all parts of an encoder-decoder, got {value}", name=one, value=value
                ),
                worded('kind="encoder" takes it'),
                worded("--kind encoder takes it"),
            )
        kept = keep_of(named, Keep(vectors="all", changed_scores=True), runs_on.layers, runs_on.heads)
        parts = recorded_parts(runs_on, text, kept, layer_done, changes)
        return explain_parts(parts, question, only_written=kind == "cross")
    where(runs_on, layer, head)
    kept = keep_of(named, Keep(changed_scores=True), runs_on.layers, runs_on.heads)
    prompt = read = read_text(runs_on, text)
    continued = None
    if wanted is not None:
        check_room(runs_on, prompt.tokens, wanted.count)
        everything = token is not None or len(prompt.tokens) + wanted.count <= SHORT
        vectors: Literal["all"] | None = "all" if everything else None
        kept_now = replace(kept, vectors=vectors)
        continued = runs_on.go_on(prompt, wanted.count, wanted.choice, kept_now, said, changes)
        read = continued.text
    tokens, units = read.tokens, units_of(read.tokens, pieces)
    found = None if token is None else find(token, nth, units, tokens.text, special)
    kept = replace(kept, vectors=short(len(tokens), None if found is None else found.tokens(units)))
    # With edits, that trace is of the changed run.
    trace = None if continued is None or changes else continued.trace
    traces = [record_text(runs_on, read, keep=kept, layer_done=layer_done) if trace is None else trace]
    changed = None if traces[0].kind == "decoder" and mask_name == "causal" else asked_mask
    if changed is not None or scale is not None or changes:
        options: dict[str, Any] = {"mask": changed, "scale": scale, "edits": changes, "layer_done": layer_done}
        traces.append(record_text(runs_on, read, keep=kept, **options))
    new = None
    if continued is not None and wanted is not None:
        new = partial(generated, prompt.tokens, continued, wanted=wanted)
    masks = [None, None if changed is None else mask_name][: len(traces)]
    return explained(traces, tokens, units, found, question, masks=masks, mask=mask_name, generated=new)


def _part(kind: str | None, target: str | None) -> str | None:
    """The part of an encoder-decoder that is asked for; of all of them that which takes a target."""
    return kind if kind != "cross" else None if target is None else "decoder"
