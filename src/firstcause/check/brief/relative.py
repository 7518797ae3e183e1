"""Values by another: "alpha twice the rank", "alpha = 2r", "halve the learning rate"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.leftovers import has_no_noun
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_TIMES = {
    "twice": 2.0,
    "double": 2.0,
    "doubled": 2.0,
    "2r": 2.0,
    "2xr": 2.0,
    "same": 1.0,
    "equal": 1.0,
    "equals": 1.0,
    "half": 0.5,
    "triple": 3.0,
    "4r": 4.0,
}
_MAKES = (
    "make it",
    "make that",
    "set it to",
    "raise it to",
    "go to",
    "go up to",
    "go down to",
    "lower it to",
    "take",
)
_SO = (["so"], ["hence"], ["therefore"], ["so rather"])
_BASES = {"lora_alpha": "lora_r"}
_CHANGES = {"halve": 0.5, "double": 2.0, "triple": 3.0, "quadruple": 4.0, "half": 0.5, "twice": 2.0}
_LOWERS = frozenset({"lower", "reduce", "divide", "decrease", "cut", "shrink"})
_RAISES = frozenset({"raise", "increase", "multiply", "bump", "scale"})
_THAT = frozenset({"that", "it"})
_CHANGED = word_set("relative", "changed")
_IFS = word_set("relative", "ifs")
# Beyond it a value is no setting, however often it was doubled.
_LARGEST = 1e15
_LINKS = word_set("relative", "links")


def relative_values(line: Line, known: Vocabulary, heard: Sequence[Reading]) -> None:
    """Claim keys whose value is a multiple of another's."""
    for at, token in enumerate(line.tokens):
        name = token.key
        if token.claimed or name not in _BASES:
            continue
        factor, place = _factor(line, at)
        base = next(
            (r for r in reversed([*heard, *line.readings]) if r.key == _BASES[name] and r.status == "active"),
            None,
        )
        if factor and base is not None and isinstance(base.value, (int, float)):
            line.claim(Reading(name, whole(base.value * factor), at, place))


def changed_values(line: Line, known: Vocabulary, heard: Sequence[Reading]) -> None:
    """Claim what was asked for before and is changed by a factor: "halve the lr", "lower it by a factor of ten"."""
    tokens = line.tokens
    if line.sentence.asks or any(t.text in _IFS for t in tokens):
        return
    for at in range(len(tokens)):
        factor, last = _change(line, at)
        if not factor:
            continue
        names = [t.key for t in tokens if t.key]
        numeric = [
            r
            for r in heard
            if r.polarity == "require"
            and r.key in known.keys
            and isinstance(r.value, (int, float))
            and not isinstance(r.value, bool)
        ]
        base = next(
            (r for r in reversed(numeric) if r.key in names or (not names and _THAT & set(words_in(tokens)))),
            None,
        )
        if base is not None and not any(r.key == base.key for r in line.readings):
            value = float(f"{base.value * factor:.12g}")
            if known.keys[base.key].least <= value <= min(known.keys[base.key].most, _LARGEST):
                line.claim(Reading(base.key, whole(value), at, last, scope=base.scope, corrects=True))
        return


def made_another(line: Line, known: Vocabulary, heard: Sequence[Reading]) -> None:
    """Claim the 512 of "hardly used with 128, make it 512", "128 is not enough, so 512": it is of the key that was 128."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        before = " ".join(words_in(tokens[max(0, at - 3) : at]))
        refused = any(t.has(cue) for t in tokens[:at] for cue in ("not", "judged", "told"))
        follows = line.words(at - 1, at) in _SO and refused and has_no_noun(line, at)
        if token.kind != "number" or token.claimed or not (before.endswith(_MAKES) or follows):
            continue
        named = [
            t.value for t in tokens[:at] if t.kind == "number" and not t.claimed and t.value != token.value
        ]
        base = next(
            (
                r
                for r in reversed(heard)
                if named and r.value in named and r.polarity == "require" and r.key in known.keys
            ),
            None,
        )
        if base is not None and not isinstance(base.value, bool):
            line.claim(
                Reading(base.key, whole(token.value), at, at, scope=base.scope, corrects=True, settled=True)
            )
            return


def _change(line: Line, at: int) -> tuple[float, int]:
    """The factor of a change that begins here, and the last place of its words; 0 where there is none."""
    text = line.tokens[at].text
    if text in _CHANGES:
        following = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
        # "Evaluate twice per epoch" changes nothing.
        paced = following is not None and (following.has("every") or following.text in ("a", "an", "as"))
        # "Double DQN", "half precision" are names of things.
        named = following is not None and following.kind == "word" and following.entry is None
        named = named and following is not None and following.text.split()[0] not in _CHANGED
        return (0.0 if paced or named else _CHANGES[text]), at
    down, up = text in _LOWERS, text in _RAISES
    if not down and not up:
        return 0.0, at
    for place in range(at + 1, min(at + 9, len(line.tokens))):
        token = line.tokens[place]
        before = line.words(place - 2, place)
        counts = token.kind == "number" and not token.claimed and token.value > 1 and not token.unit
        by = before == ["factor", "of"] or (before[-1:] == ["by"] and text in ("divide", "multiply"))
        if counts and by:
            token.claimed = True
            return (1 / token.value if down else token.value), place
    return 0.0, at


def _factor(line: Line, at: int) -> tuple[float, int]:
    """The factor that follows a key and its place: "twice that", "2 x r"; 0 where none does."""
    for place in range(at + 1, min(at + 6, len(line.tokens))):
        token = line.tokens[place]
        if token.text in _TIMES:
            return _TIMES[token.text], place
        if token.kind == "number" and (
            token.unit == "x"
            or (
                place + 1 < len(line.tokens)
                and line.tokens[place + 1].text in ("times", "r", "x", "the rank")
            )
        ):
            token.claimed = True
            return token.value, place
        if token.text not in _LINKS:
            break
    return 0.0, at
