"""Numbers that look like a setting and are none: a group, one layer of a kind, what others keep."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import Token, words_in

_STEPS = frozenset({"step", "steps", "update", "updates", "iteration", "iterations"})
_ACCUMULATES = ("accum", "micro", "gradient")
_MULTIPLES = frozenset({"twice", "double", "thrice", "triple", "half"})
_GROUPS = frozenset({"group", "groups"})
_KINDS = frozenset(
    {"linear", "output", "hidden", "dense", "final", "projection", "connected", "classification"}
)
# Something else on the machine that has a part of its memory.
_OTHERS = ("service", "process", "job", "desktop", "display", "server", "daemon", "container")
_KEEP = frozenset({"keeps", "occupies", "reserves", "eats", "blocks"})
_OWN = frozenset({"our", "my", "training", "this", "most"})
_APART = frozenset({"per", "for", "each", "every", "of", "in", "and", "or"})
# Networks that follow another one by an average have a momentum of their own, which is no optimizer's.
_AVERAGES = frozenset({"average", "averaged", "ema", "target", "teacher", "polyak"})
_MANY_STEPS = frozenset({"n", "k", "multi"})
_OF_RATIO = re.compile(r"\bclip(?:ping|ped)? (?:range|ratio|epsilon|eps|parameter)(?: of)?$")
_REACH = 8


def no_settings(line: Line) -> None:
    """Claim the numbers that say nothing of a setting, before anything reads them."""
    for at, token in enumerate(line.tokens):
        before = [w for w in words_in(line.tokens[max(0, at - 3) : at]) if w != "the"]
        if token.key and before[-1:] and before[-1] in _MULTIPLES:
            # "Alpha twice the rank, so 64".
            token.claimed = True
        if token.text == "step" and line.words(at - 1, at)[:1] and line.tokens[at - 1].text in _MANY_STEPS:
            # "No n-step returns".
            token.claimed = True
        if token.kind != "number" or token.claimed:
            continue
        if (
            _of_loss(line, at)
            or _of_a_group(line, at)
            or _one_layer(line, at)
            or _of_others(line, at)
            or _of_average(line, at)
            or _within_a_step(line, at)
        ):
            token.claimed = True


def _of_loss(line: Line, at: int) -> bool:
    """ "Huber, delta 1", "clip range 0.2" of a policy's ratio."""
    before = " ".join(words_in(line.tokens[max(0, at - 3) : at]))
    own = words_in(t for t in line.tokens if t.segment == line.tokens[at].segment)
    ratio = bool(_OF_RATIO.search(before)) and not any(w.startswith(("grad", "norm")) for w in own)
    return before.endswith(("delta", "delta of")) or ratio


def _of_a_group(line: Line, at: int) -> bool:
    """ "One tensor-parallel group over both"."""
    words = words_in(_behind(line, at, 4))
    group = next((n for n, w in enumerate(words) if w in _GROUPS), 0)
    return line.tokens[at].value == 1 and group > 0 and not _APART & set(words[:group])


def _within_a_step(line: Line, at: int) -> bool:
    """ "5 critic steps per generator step": how often one network learns for each step of another."""
    words = words_in(_behind(line, at, 7))
    first = next((n for n, w in enumerate(words[:3]) if w in _STEPS), -1)
    rest = words[first + 1 :] if first >= 0 else []
    per = rest[:1] in (["per"], ["every"]) or rest[:2] in (["for", "each"], ["for", "every"], ["to", "each"])
    # "8 accumulation steps per optimizer step" is a setting.
    own = any(w.startswith(_ACCUMULATES) for w in words) or "optimizer" in words
    return per and not own and any(w in _STEPS for w in rest[1:5])


def _one_layer(line: Line, at: int) -> bool:
    """ "One linear layer on the last state", "an MLP with one hidden layer": it counts no layers of the network."""
    after = " ".join(words_in(_behind(line, at, 3))).replace("-", " ").split()
    spelled = line.tokens[at].spelled and line.tokens[at].value == 1
    return spelled and bool(after) and after[0] in _KINDS and bool({"layer", "head"} & set(after[1:3]))


def _of_others(line: Line, at: int) -> bool:
    """ "The transcription service keeps about 5 GB on each card"."""
    if line.tokens[at].unit != "gb":
        return False
    before = words_in(_before(line, at))
    verb = next((n for n, w in enumerate(before) if w in _KEEP), -1)
    return verb > 0 and any(w.startswith(_OTHERS) for w in before[:verb]) and not _OWN & set(before)


def _of_average(line: Line, at: int) -> bool:
    """ "Target network = moving average of the online one, momentum 0.996"."""
    tokens = line.tokens
    if not at or tokens[at - 1].key not in ("momentum", "weight_decay") or not 0.9 < tokens[at].value < 1:
        return False
    before = [t for t in tokens[max(0, at - 2 * _REACH) : at] if t.statement == tokens[at].statement]
    return bool(_AVERAGES & set(words_in(before))) and not any(t.gives("optimizer") for t in before)


def _behind(line: Line, at: int, reach: int) -> list[Token]:
    return [t for t in line.tokens[at + 1 : at + 1 + reach] if t.segment == line.tokens[at].segment]


def _before(line: Line, at: int) -> list[Token]:
    return [t for t in line.tokens[max(0, at - _REACH) : at] if t.statement == line.tokens[at].statement]
