"""What a card cannot hold at once, and the batch that stays: "more than 8 at a time is out of memory, keep the 32"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.leftovers import has_no_noun
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_MORE = word_set("ceilings", "more")
_FAILS = word_set("ceilings", "fails")
_HOLDS = word_set("ceilings", "holds")
_SAMPLES = word_set("samples", "nouns")
_LAST_OF_FIT = frozenset({"fits", "fit", "hold", "holds", "goes"})
_STAYS = frozenset({"stay", "stays", "remain", "remains", "unchanged", "untouched"})
_KEEPS = word_set("ceilings", "keeps")
_THAT = frozenset({"the", "my", "our", "those"})
_DOES = frozenset({"does", "do", "fits", "fit", "works", "work", "will", "is", "goes"})
_REACH = 4
_REMEMBERED = 60


def too_much(line: Line) -> None:
    """Claim the 8 in "more than 8 pairs at a time and it is out of memory" as the most that a device holds."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.claimed or not _counts(token):
            continue
        frame = _frame(line, at)
        if frame < 0 and _samples_that_fit(tokens, at):
            # "8 images is what fits on the card at 640 x 640".
            frame = next(
                (n for n in range(at + 2, len(tokens)) if _LAST_OF_FIT & set(tokens[n].text.split())), at + 1
            )
        more = _more_than(line, at)
        if frame < 0 or not (
            (more and _fails(line))
            or _is_all_that_fits(tokens, max(at, frame))
            or _samples_that_fit(tokens, at)
        ):
            continue
        line.claim(
            Reading(
                "batch_size", whole(token.value), min(at, frame), max(at, frame), "max", "per_device",
                settled=True, measured=True,
            )
        )  # fmt: skip
        for place in range(min(at, frame), max(at, frame) + 1):
            tokens[place].claimed = True


def what_fits(line: Line, heard: Sequence[Reading]) -> None:
    """Claim the 128 in "256 doesn't fit, 128 does" as the batch, where a batch was spoken of."""
    tokens = line.tokens
    spoken = any(r.key == "batch_size" for r in heard[-_REMEMBERED:])
    for at in range(len(tokens) - 3):
        if not (spoken and _counts(tokens[at]) and tokens[at + 1].text in _FAILS) or tokens[at].claimed:
            continue
        if _accumulates_instead(line, at):
            return
        place = next((n for n in range(at + 2, min(at + 5, len(tokens))) if _counts(tokens[n])), -1)
        after = tokens[place + 1].text.split()[0] if 0 < place < len(tokens) - 1 else ""
        if place > 0 and after in _DOES and tokens[place].value < tokens[at].value:
            value = whole(tokens[place].value)
            line.claim(
                Reading("batch_size", value, place, place + 1, corrects=True, settled=True), place, place + 1
            )
            # What is judged has an object of its own.
            line.claim(Reading("batch_size", whole(tokens[at].value), at, at + 1))
            return


def _accumulates_instead(line: Line, at: int) -> bool:
    """Claim "16 won't fit, so 8 and accumulate 2 to stay at 16": the batch, the batches of an update, and their product."""
    tokens = line.tokens
    counts = [n for n in range(at + 2, len(tokens)) if _counts(tokens[n]) and not tokens[n].claimed]
    if len(counts) < 2:
        return False
    one, often = counts[:2]
    adds_up = any(t.text.startswith("accumulat") for t in tokens[one:often])
    if not adds_up or tokens[one].value * tokens[often].value != tokens[at].value:
        return False
    value = whole(tokens[one].value)
    line.claim(Reading("batch_size", value, one, one, corrects=True, settled=True))
    line.claim(
        Reading(
            "gradient_accumulation", whole(tokens[often].value), often - 1, often, corrects=True, settled=True
        )
    )
    line.claim(Reading("batch_size", whole(tokens[at].value), at, at + 1))
    for place in counts[2:]:
        tokens[place].claimed = tokens[place].claimed or tokens[place].value == tokens[at].value
    return True


def _counts(token: Token) -> bool:
    return token.kind == "number" and not token.unit and token.value == int(token.value) and token.value >= 1


def _frame(line: Line, at: int) -> int:
    """The place of what is counted at once: "at a time", "images per step", "in a batch", "batches of more than"; or -1."""
    after = range(at + 1, min(at + _REACH + 1, len(line.tokens)))
    before = range(at - 1, max(-1, at - _REACH - 1), -1)
    for place in (*after, *before):
        token = line.tokens[place]
        if token.kind == "break" or token.text == "and" or token.claimed:
            if place > at:
                continue
            break
        # "More than 16 fit" says the contrary.
        if (
            token.key == "batch_size"
            and not token.text.startswith("fit")
            and not token.text.startswith("can")
        ):
            return place if line.same_segment(place, at) else -1
    return -1


def _more_than(line: Line, at: int) -> bool:
    before = line.words(at - 2, at)
    return bool(before) and (before[-1] in _MORE or " ".join(before) in _MORE)


def _fails(line: Line) -> bool:
    """Whether the sentence says that the memory is not enough."""
    text = f" {' '.join(words_in(line.tokens))} "
    return any(f" {phrase} " in text for phrase in _FAILS)


def _is_all_that_fits(tokens: Sequence[Token], last: int) -> bool:
    """Whether a count is the most there can be: "12 at a time is all that fits"."""
    following = " ".join(words_in(tokens[last + 1 : last + 7]))
    return any(following.startswith(phrase) for phrase in _HOLDS)


def _samples_that_fit(tokens: Sequence[Token], at: int) -> bool:
    """Whether samples are counted, and so many are the most there can be."""
    noun = tokens[at + 1] if at + 1 < len(tokens) else None
    sample = noun is not None and noun.text.split()[0] in _SAMPLES
    return sample and _is_all_that_fits(tokens, at + 1)


def batch_that_stays(line: Line, heard: Sequence[Reading]) -> None:
    """Let "the 32 should stay" say again what was said; where a device holds less at once, it is the batch of an update."""
    for at, token in enumerate(line.tokens):
        if token.claimed or not _counts(token) or not (_stays(line, at) or _is_kept(line, at)):
            continue
        said = [r for r in (*heard[-_REMEMBERED:], *line.readings) if _is_wish_for(r, token.value)]
        if not said:
            continue
        token.claimed = True
        most = [r for r in (*heard[-_REMEMBERED:], *line.readings) if r.measured and r.value < token.value]
        batch = next((r for r in reversed(said) if r.key == "batch_size" and r.scope in ("", "train")), None)
        if most and batch is not None and not line.sentence.proposes:
            batch.key, batch.scope = "effective_batch_size", ""
            line.readings.append(Reading(batch.key, batch.value, at, at, settled=True))


def _is_wish_for(reading: Reading, value: float) -> bool:
    number = isinstance(reading.value, (int, float)) and not isinstance(reading.value, bool)
    return number and reading.value == value and reading.polarity == "require" and not reading.told


def _stays(line: Line, at: int) -> bool:
    """Whether a number that was named before stays as it is: "the 32 should stay"."""
    after = [w for t in line.tokens[at + 1 : at + 4] if t.kind == "word" for w in t.text.split()]
    return (
        line.words(at - 1, at)[:1] != [] and line.tokens[at - 1].text in _THAT and bool(_STAYS & set(after))
    )


def _is_kept(line: Line, at: int) -> bool:
    """Whether it is kept: "keep the 64", "stay with the 128"."""
    before = " ".join(words_in(line.tokens[max(0, at - 3) : at]))
    return any(before.endswith(f"{verb} the") for verb in _KEEPS) and has_no_noun(line, at)
