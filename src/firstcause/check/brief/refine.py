"""Keys by their surroundings: a dropout of LoRA, a warmup as a share or a count, tokens that are read or made."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.others_values import is_anothers_value
from firstcause.check.brief.plateaus import patience_of_schedule
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set
from firstcause.schema.instruction import Scope

# What a count of epochs or steps is where the question was about something that takes a while.
_OWNERS = {
    "max_steps": {
        "warmup": "warmup",
        "warmup_steps": "warmup",
        "gradient_accumulation": "gradient_accumulation",
    },
    "epochs": {
        "early_stopping": "early_stopping_patience",
        "early_stopping_patience": "early_stopping_patience",
    },
}
_HELD_OUT = frozenset({"validation", "val", "test", "dev", "eval", "evaluation"})
_EVALUATES = word_set("refine", "evaluates")
_ADAPTERS = frozenset({"lora_r", "lora_alpha", "lora_target_modules"})
_TARGETS = word_set("refine", "targets")
_SOURCES = word_set("refine", "sources")
_SAME_AGAIN = word_set("refine", "same_again")
_LAYERED = word_set("refine", "layered")
_UNITS = frozenset({"units", "neurons", "units each", "neurons each", "units wide"})
_MAKES = ("generat", "respon", "repl", "complet", "decoding", "decoded", "decode")
_ANSWERS = ("output", "answer")
_ALL_OF_IT = frozenset({"altogether", "together", "overall", "in total", "combined"})
_READS = word_set("refine", "reads")


def refine(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Rename readings whose key depends on what else is said, here or before (``heard``)."""
    _of_question(line)
    _described(line)
    _second_length(line)
    _layers(line)
    before = () if any(r.key == "dropout" for r in heard) else heard
    adapters = any(
        r.key in _ADAPTERS or (r.key == "method" and r.value in ("lora", "qlora") and r.polarity == "require")
        for r in (*before, *line.readings)
    )
    for reading in line.readings:
        if reading.key == "dropout" and adapters:
            reading.key = "lora_dropout"
        elif (
            reading.key == "warmup"
            and isinstance(reading.value, (int, float))
            and not isinstance(reading.value, bool)
        ):
            reading.key = "warmup_ratio" if reading.value < 1 else "warmup_steps"
        elif reading.key == "max_length":
            _length(line, reading)
    _of_schedule(line)
    if any(
        r.key == "max_length" and line.tokens[r.first].text.startswith("pack") for r in line.readings
    ) and not any(r.key == "packing" for r in line.readings):
        at = next(r.first for r in line.readings if r.key == "max_length")
        line.readings.append(Reading("packing", True, at, at))
    saves = any(t.has("save") or t.text in ("write", "writes", "out", "output") for t in line.tokens)
    if not saves and not any(r.key.startswith("output") for r in line.readings):
        line.readings[:] = [r for r in line.readings if r.key != "save_rank"]
    # A package is an instruction where it is ruled out; otherwise it is only mentioned.
    line.readings[:] = [r for r in line.readings if r.key != "dependency" or r.polarity == "forbid"]
    for reading in line.readings:
        if reading.key == "save_rank" and reading.strength == "may":
            # "Only rank 0 is allowed to write": the others are not.
            reading.strength = "must"
    if any(r.key == "early_stopping_patience" for r in line.readings):
        line.readings[:] = [r for r in line.readings if r.key != "early_stopping" or r.polarity == "forbid"]


def _of_question(line: Line) -> None:
    """Give a count the key that was asked for: "500 steps" to a question about the warmup."""
    for reading in line.readings:
        if reading.key not in ("max_steps", "epochs") or reading.key in line.topic:
            continue
        words = [t.text for t in line.tokens[: reading.first + 1]]
        if "until" not in words and any(w == "all" or w.startswith("train") for w in words):
            # "Early stopping? No, train all 5 epochs."
            continue
        owned = next((key for asked, key in _OWNERS[reading.key].items() if asked in line.topic), "")
        reading.key = owned or reading.key


def _described(line: Line) -> None:
    """Drop what only describes: the size of a model that is named, the second of "128 and 64 units"; mark what evaluates."""
    tokens = line.tokens
    models = [str(r.value).lower() for r in line.readings if r.key == "model" and r.polarity == "require"]
    named = bool(models)
    kept = []
    for reading in line.readings:
        before = line.words(reading.first - 1, reading.first)
        if reading.key == "model" and any(_is_part(str(reading.value).lower(), m) for m in models):
            # "Phi-3-mini (microsoft/Phi-3-mini-4k-instruct)".
            continue
        if reading.key == "model_size_b" and reading.relation == "eq" and named:
            continue
        if is_anothers_value(line, reading):
            continue
        if (
            reading.key == "optimizer"
            and reading.value == "adam"
            and "decoupled weight decay" in " ".join(t.text for t in tokens)
        ):
            reading.value = "adamw"
        if reading.key == "adam_epsilon" and line.tokens[reading.first - 1].key == "label_smoothing":
            # "Label smoothing eps 0.1".
            reading.key = "label_smoothing"
        listed = before in (["and"], [","], ["/"]) and reading.first > 1
        other = tokens[max(0, reading.first - 2)]
        if reading.key == "hidden_size" and listed and other.kind == "number" and not other.claimed:
            continue
        if reading.key == "augmentation" and reading.polarity == "forbid":
            after = set(words_in(tokens[reading.last + 1 : reading.last + 4]))
            if after & _HELD_OUT:
                continue
        if reading.key == "batch_size" and not reading.scope and _evaluates(line, reading):
            reading.scope = "eval"
        kept.append(reading)
    line.readings[:] = kept


def _is_part(name: str, whole: str) -> bool:
    """Whether a bare name stands within a hub id that the sentence gives too."""
    return "/" not in name and "/" in whole and whole.partition("/")[2].startswith(name)


def _evaluates(line: Line, reading: Reading) -> bool:
    """Whether a batch is that of an evaluation: "test with batch size 1"."""
    statement = line.tokens[reading.first].statement
    just_before = words_in(line.tokens[max(0, reading.first - 1) : reading.first])
    if set(just_before) & _EVALUATES:
        # "Train bs 16, eval bs 32".
        return True
    own = [t for t in line.tokens[: reading.last + 4] if t.statement == statement]
    words = set(words_in(own))
    return bool(words & _EVALUATES) and not any(w.startswith("train") for w in words)


def _of_schedule(line: Line) -> None:
    """Leave a plateau schedule its patience, and let the top of a one-cycle be the rate."""
    patience_of_schedule(line)
    if any(r.value == "onecycle" and r.polarity == "require" for r in line.readings if r.key == "scheduler"):
        for reading in line.readings:
            if reading.key == "learning_rate" and reading.relation == "max" and not reading.settled:
                reading.relation = "eq"


def _layers(line: Line) -> None:
    """Give "3 layers of 128" its width; units are those of a layer only where layers are spoken of."""
    tokens = line.tokens
    for reading in [r for r in line.readings if r.key == "num_layers"]:
        at = reading.last + 2
        if (
            at >= len(tokens)
            or tokens[at - 1].text != "of"
            or tokens[at].kind != "number"
            or tokens[at].claimed
        ):
            continue
        alone = (
            at + 1 >= len(tokens) or tokens[at + 1].kind == "break" or tokens[at + 1].text in ("each", "and")
        )
        if alone and not tokens[at].unit and tokens[at].value == int(tokens[at].value):
            line.claim(Reading("hidden_size", int(tokens[at].value), at, at))
    if not any(w in _LAYERED for w in words_in(tokens)):
        line.readings[:] = [
            r
            for r in line.readings
            if r.key != "hidden_size" or not set(line.words(r.first, r.last + 1)) & _UNITS
        ]


def _length(line: Line, reading: Reading) -> None:
    """Whether tokens are those that are read, those that are made, or all that a server holds."""
    own = [
        w
        for t in line.tokens
        if t.segment == line.tokens[reading.first].segment
        for w in (t.text, *t.text.split())
    ]
    reads = any(w in _READS for w in own)
    if not reads:
        own += _said_of(line, reading)
    makes = any(w.startswith(_MAKES) for w in own) or (
        not line.scene.training and any(w.startswith(_ANSWERS) for w in own)
    )
    whole = line.scene.inference and (
        bool(_ALL_OF_IT & set(own)) or {"in", "total"} <= set(own) or {"prompt", "answer"} <= set(own)
    )
    if whole:
        reading.key = "max_model_len"
    elif not reads and (makes or (line.scene.inference and "tokens" in own)):
        reading.key = "max_new_tokens"
    elif line.scene.serving:
        reading.key = "max_model_len"
    elif not reading.scope:
        before = line.words(reading.first - 4, reading.last + 1)
        if any(w in _SOURCES for w in before):
            reading.scope = "source"
        elif any(w in _TARGETS for w in before):
            reading.scope = "target"


def _said_of(line: Line, reading: Reading) -> list[str]:
    """The words before a bare limit in parentheses or after a comma: "with generation (up to 225 tokens)"."""
    tokens = line.tokens
    at = reading.first
    while at and tokens[at].segment == tokens[reading.first].segment and tokens[at].kind != "break":
        at -= 1
    own = [t for t in tokens[at + 1 : reading.first] if t.kind == "word"]
    if tokens[at].text not in ("(", ",") or any(not t.has("most") for t in own):
        return []
    return [t.text for t in tokens[max(0, at - 4) : at]]


def _second_length(line: Line) -> None:
    """The 128 in "inputs cut at 512 tokens and the summaries at 128"."""
    lengths = [r for r in line.readings if r.key == "max_length"]
    if not lengths:
        return
    for at, token in enumerate(line.tokens):
        if (
            token.kind != "number"
            or token.claimed
            or token.unit not in ("", "k")
            or not 8 <= token.value < 1e7
        ):
            continue
        before = line.words(at - 3, at)
        if any(w in ("at", "to", "of") for w in before[-1:]) and any(
            w in _TARGETS | _SOURCES for w in before
        ):
            value = int(token.value * (1024 if token.unit == "k" else 1))
            scope: Scope = "target" if any(w in _TARGETS for w in before) else "source"
            first = lengths[0]
            line.claim(
                Reading(
                    "max_length",
                    value,
                    at,
                    at,
                    first.relation,
                    scope,
                    strength=first.strength,
                    told=first.told,
                )
            )


def same_again(line: Line) -> None:
    """Claim "deterministic": in inference it is greedy, in training it asks for a seed."""
    at = next((n for n, t in enumerate(line.tokens) if t.text in _SAME_AGAIN), None)
    keys = {r.key for r in line.readings}
    if at is None:
        return
    if not line.scene.inference:
        if "seed" not in keys:
            line.claim(Reading("seed", True, at, at))
    elif "temperature" not in keys:
        line.claim(Reading("temperature", 0, at, at))
        line.claim(Reading("do_sample", False, at, at))
