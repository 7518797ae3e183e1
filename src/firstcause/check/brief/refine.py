"""Keys by their surroundings: a dropout of LoRA, a warmup as a share or a count, tokens that are read or made."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set
from firstcause.schema.instruction import Scope

_ADAPTERS = frozenset({"lora_r", "lora_alpha", "lora_target_modules"})
_TARGETS = word_set("refine", "targets")
_SOURCES = word_set("refine", "sources")
_SAME_AGAIN = word_set("refine", "same_again")
_LAYERED = word_set("refine", "layered")
_UNITS = frozenset({"units", "neurons", "units each", "neurons each", "units wide"})
_MAKES = ("generat", "respon", "repl", "complet", "decoding", "decoded")
_ANSWERS = ("output", "answer")
_READS = word_set("refine", "reads")


def refine(line: Line) -> None:
    """Rename readings whose key depends on what else the sentence says."""
    _second_length(line)
    _layers(line)
    adapters = any(
        r.key in _ADAPTERS or (r.key == "method" and r.value in ("lora", "qlora")) for r in line.readings
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
    saves = any(t.has("save") or t.text in ("write", "writes", "out", "output") for t in line.tokens)
    if not saves and not any(r.key.startswith("output") for r in line.readings):
        line.readings[:] = [r for r in line.readings if r.key != "save_rank"]
    # A package is an instruction where it is ruled out; otherwise it is only mentioned.
    line.readings[:] = [r for r in line.readings if r.key != "dependency" or r.polarity == "forbid"]
    if any(r.key == "early_stopping_patience" for r in line.readings):
        line.readings[:] = [r for r in line.readings if r.key != "early_stopping" or r.polarity == "forbid"]


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
    if not any(w in _LAYERED for t in tokens for w in t.text.split()):
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
    makes = any(w.startswith(_MAKES) for w in own) or (
        not line.scene.training and any(w.startswith(_ANSWERS) for w in own)
    )
    if not reads and (makes or (line.scene.inference and "tokens" in own)):
        reading.key = "max_new_tokens"
    elif line.scene.serving:
        reading.key = "max_model_len"
    elif not reading.scope:
        before = line.words(reading.first - 4, reading.last + 1)
        if any(w in _SOURCES for w in before):
            reading.scope = "source"
        elif any(w in _TARGETS for w in before):
            reading.scope = "target"


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
