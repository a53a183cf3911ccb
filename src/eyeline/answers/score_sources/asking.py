"""`why`: split a score of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eyeline.answers.entries import model_entry
from eyeline.answers.question import QuestionError, asked_model, counted
from eyeline.answers.score_sources.answer import Why, WhyToken
from eyeline.answers.score_sources.token_search import find_token, token_at
from eyeline.edits import Kind, ModelEdits, Sites
from eyeline.models import Model
from eyeline.models.encoder_decoder import EncoderDecoder
from eyeline.models.network import Network
from eyeline.models.score_sources import score_sources
from eyeline.traces import LayerTrace, Trace
from eyeline.traces.text_model import AnyModel
from eyeline.words import worded

#: How far the split score may be from the run's, as a part of 1 + its size, before the model can't be the one that ran.
_FAR = 0.1


def why(
    trace: Trace,
    layer: int | None,
    head: int | None,
    query: int | str,
    key: int | str | None = None,
    *,
    nth: int | None = None,
    key_nth: int | None = None,
    model: AnyModel | None = None,
) -> Why:
    """Split a score by what was written into the residual stream before: why a head looked there.

    A score is scale · q·k, and q and k are sums over what was written before at their tokens: the embedding, the
    position where it is added, each head's output, each MLP's, and biases. Norms count as linear, with the scale that
    they had in the run; rotary positions turn every part of q and k to its token's place. The terms sum to the score
    exactly, in float64. The model isn't run again: what other tokens passed on is in the run's q, k, v and lse, so that
    a long text costs little more than a short one.

    Args:
        trace: a run on record, with its values (as `record` keeps them): of one of Eyeline's models; or of any run of a
            checkpoint that Eyeline has a network for, with `model`.
        layer, head: from 0; the last layer if None, and the head that looks hardest from the query at the key.
        query, key: a token: a word of the text, a piece of one, or a position, also as "#3". The key is the one that
            gets most of the query's weight if not given, but for special tokens and a decoder's first.
        nth, key_nth: which occurrence of the query's and of the key's word, from 1.
        model: the model that ran, as a name, a folder or a loaded model: needed for a trace from a file, or of a
            transformers model.

    Returns:
        The `Why`: a table of sources × sources.

    Raises:
        QuestionError: if there is no such layer, head or token, the query can't look at the key, or the trace lacks
            what it takes; it says what. A ValueError.
        ModelError: if the model is unknown or its files are invalid.

    Source: Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021).

    >>> import eyeline as el
    >>> found = why(el.record("time flies like an arrow"), 5, 2, "flies", "time")
    >>> found.table.shape, round(found.score, 3), round(found.by_key_source.sum().item(), 3)
    ((89, 89), 4.363, 4.363)
    >>> [(term.query.name, term.key.name, round(term.value, 2)) for term in found.largest(2)]
    [('L4 MLP', 'L3 MLP', -0.24), ('L0 attention norm bias', 'L3 MLP', 0.16)]
    """
    trace = _checked(trace)
    sizes = trace.model
    number = sizes.layers - 1 if layer is None else counted("layer", layer, sizes.layers, sizes.name)
    heads = range(sizes.heads) if head is None else [counted("head", head, sizes.heads, sizes.name)]
    line, at = trace.queries, trace.layers[number]
    i = find_token(line, query, nth, worded("query"), "nth")
    j = None if key is None else find_token(line, key, key_nth, worded("key"), "key_nth")
    which, place = _hardest(trace, number, heads, i.index, None if j is None else j.index)
    j = token_at(line, place) if j is None else j
    _check_seen(trace, at, which, i, j)
    _check_own(trace, number, which, i, j)
    network = _network(trace, model)
    if not trace.has_values:
        raise QuestionError(
            worded("trace must have its values, to say what heads wrote, got one without"),
            worded("record it with values=True"),
        )
    outputs = [
        np.concatenate([one.output_of(range(sizes.heads), (x.index, x.index + 1)) for x in (i, j)], axis=1)
        for one in trace.layers[:number]
    ]
    split = score_sources(network, number, which, (i.id, j.id), (i.index, j.index), outputs, at.scale)
    q, k = (x.astype(np.float64) for x in (at.q[which, i.index], at.k[trace.key_head(which), j.index]))
    run_score = at.scale * float(q @ k)
    if not abs(split.score - run_score) <= _FAR * (1 + abs(run_score)):
        raise QuestionError(
            worded(
                "model must be the one that ran, got one whose score is {score:.4g}; the trace's is {run_score:.4g}",
                score=split.score,
                run_score=run_score,
            )
        )
    return Why(
        model_entry(trace),
        line.text,
        trace.name,
        number,
        which,
        i,
        j,
        split.query_sources,
        split.key_sources,
        split.table,
        split.score,
        run_score,
        split.same_place,
        split.positions,
        float(trace.weights(number, which, queries=i.index, keys=j.index)[0, 0]),
        _changes(at),
        trace,
    )


def _checked(trace: object) -> Trace:
    if isinstance(trace, Trace):
        return trace
    kind = type(trace).__name__
    hint = worded("give one trace, such as the first of the list") if isinstance(trace, list) else ""
    raise QuestionError(worded("trace must be a run that eyeline.record made, got {kind}", kind=kind), hint)


def _hardest(trace: Trace, layer: int, heads: Sequence[int], query: int, key: int | None) -> tuple[int, int]:
    """The head, of some, and the key, if it isn't given, with the largest weight from the query."""
    if key is not None and len(heads) == 1:
        return heads[0], key
    rows = np.stack([trace.weights(layer, head, queries=query)[0] for head in heads])
    others = np.setdiff1d(np.arange(rows.shape[1]), trace.queries.tokens_aside)
    keys = np.array([key]) if key is not None else others if rows[:, others].any() else np.arange(rows.shape[1])
    best, place = np.unravel_index(np.argmax(rows[:, keys]), (len(heads), len(keys)))
    return heads[int(best)], int(keys[place])


def _check_seen(trace: Trace, at: LayerTrace, head: int, i: WhyToken, j: WhyToken) -> None:
    """
    Raises:
        QuestionError: if the query can't look at the key.
    """
    seen = at.allowed.pairs(np.array([i.index]), np.array([j.index]))
    if seen[head if len(seen) > 1 else 0, 0]:
        return
    names = {"query": i.text, "key": j.text, "i": i.index, "j": j.index}
    if j.index > i.index and at.allowed.kind == "causal":
        raise QuestionError(
            worded(
                "key must be a token that {query} (#{i}) can look at, got {key} (#{j}), which is ahead of it: this "
                "model's tokens look back",
                **names,
            ),
            worded("ask from {key} at {query}", **names),
        )
    raise QuestionError(
        worded(
            "key must be a token that {query} (#{i}) can look at, got {key} (#{j}), which the mask or an edit "
            "hides from it",
            **names,
        )
    )


def _check_own(trace: Trace, layer: int, head: int, i: WhyToken, j: WhyToken) -> None:
    """
    Raises:
        QuestionError: if the head's query or key was taken from another run, whose sources aren't in this one.
    """
    if not trace.edits:
        return
    kind: Kind = "decoder self" if trace.kind == "decoder" else "encoder self"
    sizes, at = trace.model, np.arange(len(trace.queries))[None]
    every = ModelEdits(trace.edits, Sites({kind: sizes.layers}, sizes.heads, sizes.key_heads))
    changed = every.of_call(kind, layer, at, at)
    for new in () if changed is None else changed.inputs:
        place = {"q": i.index, "k": j.index}.get(new.name)
        named = trace.key_head(head) if new.of_groups else head
        if place is not None and named in new.heads and new.taken[0, place] >= 0:
            raise QuestionError(
                worded(
                    "head must have a query and a key of its own run, got L{layer}H{head}, whose {name} an edit took "
                    "from another",
                    layer=layer,
                    head=head,
                    name=new.name,
                ),
                worded("ask for it in the other run, or in a run without that edit"),
            )


def _network(trace: Trace, model: Any) -> Network:
    """The network that ran."""
    network = trace.network if model is None else _given_network(trace, model)
    if network is None:
        raise QuestionError(
            _unknown(trace),
            worded("of a checkpoint that Eyeline runs itself, give model= with its name or folder (`eyeline models`)"),
        )
    if isinstance(network, EncoderDecoder) and trace.kind != "encoder":
        raise QuestionError(
            worded("trace must be of a text's own tokens, got {kind} of an encoder-decoder", kind=trace.kind),
            worded("of its three traces, take the encoder's: what is written looks at two texts"),
        )
    return network


def _given_network(trace: Trace, model: Any) -> Network:
    """The network of the argument `model`, checked against the trace."""
    asked = asked_model(model)
    opened = getattr(asked, "model", None)
    if not isinstance(opened, Model):
        raise QuestionError(_unknown(trace))
    sizes, config = trace.model, opened.config
    theirs = (config.layers, config.heads, config.key_heads, config.head_dim)
    ids = trace.queries.ids
    if (
        theirs != (sizes.layers, sizes.heads, sizes.key_heads, sizes.head_dim)
        or not 0 <= min(ids) <= max(ids) < config.vocabulary_size
    ):
        raise QuestionError(
            worded(
                "model must be the one that ran, {ran}, got {given}, whose sizes or tokens are others",
                ran=sizes.name,
                given=asked.name,
            )
        )
    return opened.network


def _unknown(trace: Trace) -> str:
    """That a trace's model can't be split."""
    return worded(
        "trace must be of a model whose parts Eyeline knows (its norms, W_o, MLPs), got {name} without them",
        name=trace.model.name,
    )


def _changes(at: LayerTrace) -> tuple[str, ...]:
    found = {"cap": at.softcap, "bias": at.bias, "sink": at.sinks}
    return tuple(name for name, value in found.items() if value is not None)
