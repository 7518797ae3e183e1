"""What of an example is learnt: "loss only on the note, not on the dictation", "the prompt must not enter the loss"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_ALONE = frozenset({"only", "alone", "solely", "exclusively", "just"})
_LINKS = frozenset({"on", "the", "for", "over"})
# "Just on the reply", but not "just report the loss".
_JUST_ON = (["on"], ["for"], ["over"])
_LOSS = frozenset({"loss", "entropy"})
_LEARNS = frozenset({*_LOSS, "learn", "learned", "learnt", "train", "trained"})
_IGNORES = ("ignor", "exclud", "mask", "skip")
_PROMPTS = word_set("learnt", "prompts")
_ANSWERS = tuple(sorted(word_set("learnt", "answers")))
# What is masked there is no prompt: padding, pixels, layers; and what is only shown is not learnt.
_NO_TEXT = tuple(sorted(word_set("learnt", "no_text")))
_REACH = 9


def answers_only(line: Line) -> None:
    """Claim "loss only on the answer tokens", and "the prompt must not enter the loss", where no phrase has them."""
    if any(r.key == "completion_only" for r in line.readings):
        return
    for at, token in enumerate(line.tokens):
        alone = token.text in _ALONE and (token.text != "just" or line.words(at + 1, at + 2) in _JUST_ON)
        if token.claimed or not (alone or token.has("not") or token.text.startswith(_IGNORES)):
            continue
        near = [
            w
            for t in line.tokens[max(0, at - 8) : at + 9]
            if t.segment == token.segment
            for w in t.text.split()
        ]
        after = [w for t in line.tokens[at : at + 9] if t.segment == token.segment for w in t.text.split()]
        if alone and _rather_than_source(line, at, near):
            line.claim(Reading("completion_only", True, at, at, settled=True), at)
            return
        learns = any(w in _LEARNS for w in near)
        if token.text.startswith(_IGNORES) and not learns:
            # "The loss is on the query only, the question is masked".
            earlier = words_in(t for t in line.tokens[:at] if t.segment == token.segment - 1)
            learns = bool({"loss", "only"} <= set(earlier))
        if alone:
            # "The loss counts the answer only", "on the assistant's turns only".
            before = words_in(t for t in line.tokens[max(0, at - 3) : at] if t.segment == token.segment)
            if learns and any(w.startswith(_ANSWERS) for w in (*after, *before)):
                line.claim(Reading("completion_only", True, at, at))
                return
            continue
        kept_out = (
            learns and any(w in _PROMPTS for w in near) and not any(w.startswith(_ANSWERS) for w in near)
        )
        if kept_out or (token.has("not") and any(w in _PROMPTS for w in after) and _on_answers(line, at)):
            line.claim(Reading("completion_only", True, at, at, settled=True), at)
            return


def _rather_than_source(line: Line, at: int, near: list[str]) -> bool:
    """Whether one part of an example is learnt and the other is not: "loss only on the note, not on the dictation"."""
    tokens = line.tokens
    for place in range(max(0, at - _REACH), min(len(tokens), at + _REACH)):
        other = tokens[place]
        denies = other.has("not") or other.text in ("rather than", "instead of")
        if not denies or other.segment == tokens[at].segment:
            continue
        there = words_in(t for t in tokens[place : place + _REACH] if t.segment == other.segment)
        if not (_LINKS & set(there[1:2]) or _LEARNS & set(there)):
            continue
        words = [*there, *near]
        loss = bool(_LOSS & set(words))
        answers = bool(_LEARNS & set(words)) and any(w.startswith(_ANSWERS) for w in near)
        if (loss or answers) and _LINKS & set(near) and not any(w.startswith(_NO_TEXT) for w in words):
            return True
    return False


def _on_answers(line: Line, at: int) -> bool:
    """Whether the segment before says that answers are learnt: "train on the responses, not on the prompts"."""
    before = words_in(t for t in line.tokens[:at] if t.segment == line.tokens[at].segment - 1)
    return any(w in _LEARNS for w in before) and any(w.startswith(_ANSWERS) for w in before)
