"""How the rate goes: where it starts ("starting at 0.05, annealed by a cosine"), and at which epochs it steps down."""

from __future__ import annotations

from firstcause.check.brief.counts import unit_of
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_STARTS = word_set("schedules", "starts")
_START_LINKS = frozenset({"at", "from", "with", "off"})
_SUBJECTS = word_set("schedules", "subjects")
_GOES_ON = word_set("schedules", "goes_on")
_FALLS = ("decay", "decreas", "anneal", "fall", "drop", "going", "linear", "lower", "shrink")
_LOWERS = ("divid", "drop", "cut", "reduc", "decay", "multipl", "halv", "lower", "scale", "decreas", "shr")
_WHEN = frozenset({"after", "at", "in", "on", "from", "past"})
_LISTS = frozenset({",", "and", "/", "&", "(", ")"})
_BY_HOW_MUCH = word_set("schedules", "by_how_much")
_BEFORE_VERB = word_set("schedules", "before_verb")
_REACH = 12


def starting_rates(line: Line) -> None:
    """Claim the 0.05 in "SGD, starting at 0.05 and annealed by a cosine", and leave where it ends."""
    tokens = line.tokens
    if _rate_has_number(line):
        return
    for at, token in enumerate(tokens):
        if token.kind != "number" or token.claimed or token.unit or not 1e-8 <= token.value < 1:
            continue
        start = _start_before(tokens, at)
        if start >= 0 and _ends_or_goes_on(tokens, at) and _of_rate(line, start, at):
            line.claim(Reading("learning_rate", token.value, at, at, settled=True))
            _leave_end(line, at)
            return


def _rate_has_number(line: Line) -> bool:
    """Whether a word for the rate has a value beside it: what else starts somewhere is no rate."""
    return any(
        token.key == "learning_rate" and any(t.kind == "number" for t in line.tokens[at + 1 : at + 4])
        for at, token in enumerate(line.tokens)
    )


def _start_before(tokens: list[Token], at: int) -> int:
    """The place of "starting" before a number, or -1."""
    place = at - 1
    while place > 0 and tokens[place].text in _START_LINKS:
        place -= 1
    return place if place >= 0 and tokens[place].text in _STARTS and place >= at - 3 else -1


def _ends_or_goes_on(tokens: list[Token], at: int) -> bool:
    """Whether a number has no noun of its own: "starting at 0.5 difficulty" has one."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or after.kind in ("break", "join"):
        return True
    return after.text in _GOES_ON or after.text.startswith(_FALLS) or after.gives("scheduler")


def _of_rate(line: Line, start: int, at: int) -> bool:
    """Whether what starts is the rate: an optimizer or a schedule stands before it, or nothing but a schedule after it."""
    tokens = line.tokens
    place = start - 1
    while place >= 0 and tokens[place].text in _SUBJECTS:
        place -= 1
    if place < 0:
        return any(t.gives("scheduler") for t in tokens[at + 1 : at + _REACH])
    if tokens[place].kind != "break" and not tokens[place].gives("optimizer"):
        # "The noise starts at 0.05".
        return False
    for token in reversed(tokens[: place + 1]):
        if token.gives("optimizer") or token.gives("scheduler"):
            return True
        plain = token.kind == "word" and token.entry is None and token.text not in _SUBJECTS
        if plain or token.text in (";", "—"):
            return False
    return False


def _leave_end(line: Line, at: int) -> None:
    """Leave the 1e-5 in "starting at 3e-4, along a cosine to 1e-5": it is no other rate."""
    tokens = line.tokens
    for place in range(at + 2, min(at + _REACH, len(tokens))):
        ends = tokens[place].kind == "number" and tokens[place - 1].text in ("to", "at", "until")
        if ends and not tokens[place].claimed and tokens[place].value < tokens[at].value:
            tokens[place].claimed = True
            return


def stepped_rates(line: Line) -> None:
    """Claim the schedule in "the rate is divided by 10 after epochs 30 and 45" and "milestones 30 and 60"."""
    tokens = line.tokens
    if not any(t.key == "learning_rate" for t in tokens) and not any(t.gives("optimizer") for t in tokens):
        return
    for at, token in enumerate(tokens):
        if token.text in ("milestones", "milestone"):
            numbers = _numbers_from(tokens, at + 1, alone=True)
        elif (token.text.startswith(_LOWERS) and _rate_beside(line, at)) or _is_quotient(tokens, at):
            numbers = _moments_after(tokens, at) or _moments_before(tokens, at)
        else:
            continue
        if numbers:
            line.claim(Reading("scheduler", "step", at, at))
            first, last = min(at, *numbers), max(at, *numbers)
            for own in tokens[first : last + 2]:
                # The factor and the epochs are those of the schedule.
                own.claimed = own.claimed or own.kind == "number" or bool(unit_of(own)) or own.has("every")
            return


def _is_quotient(tokens: list[Token], at: int) -> bool:
    """Whether the rate is divided or multiplied by a sign: "lr / 10 at epochs 50 and 75", "lr times 0.1 every 8 epochs"."""
    return tokens[at].text in ("/", "*", "x", "times") and at > 0 and tokens[at - 1].key == "learning_rate"


def _rate_beside(line: Line, at: int) -> bool:
    """Whether it is the rate that is lowered here: it is named beside, or before a comma after which nothing else is."""
    tokens = line.tokens
    after = [t for t in tokens[at + 1 : at + 4] if t.key]
    before = [t for t in tokens[max(0, at - 4) : at] if t.key and t.segment == tokens[at].segment]
    own = (before[-1:] if before else []) + after[:1]
    if any(t.key == "learning_rate" for t in own):
        return True
    others = [t for t in tokens[:at] if t.key and not unit_of(t)]
    if tokens[at + 1 : at + 2] and tokens[at + 1].text == "it" and others:
        return others[-1].key == "learning_rate"
    elided = at > 0 and tokens[at - 1].text in (",", "and", "(") and not before
    return elided and any(t.key == "learning_rate" for t in tokens[:at])


def _moments_after(tokens: list[Token], at: int) -> list[int]:
    """The places of the epochs, or steps, at which something is done: "by 10 after epochs 30 and 45"."""
    place = at + 1
    while place < len(tokens) and not _is_when(tokens[place]):
        small = tokens[place].kind == "number" or tokens[place].key == "learning_rate"
        if not small and tokens[place].text not in _BY_HOW_MUCH:
            return []
        place += 1
    return _moments(tokens, place)


def _moments_before(tokens: list[Token], at: int) -> list[int]:
    """The same where they stand first: "at epochs 30 and 45 the rate is divided by 10"."""
    for place in range(at - 2, max(-1, at - _REACH), -1):
        numbers = _moments(tokens, place) if _is_when(tokens[place]) else []
        between = tokens[max(numbers) + 1 : at] if numbers else []
        if numbers and all(t.text in _BEFORE_VERB or t.key == "learning_rate" or unit_of(t) for t in between):
            return numbers
    return []


def _is_when(token: Token) -> bool:
    return token.text in _WHEN or token.has("every")


def _moments(tokens: list[Token], at: int) -> list[int]:
    """The places of the numbers in "after epochs 30 and 45", "at 30 and 45 epochs" and "every 30 epochs"."""
    following = tokens[at + 1 : at + 3]
    if not following:
        return []
    named = tokens[at].text.endswith("epoch")
    unit = next((n for n, t in enumerate(following) if unit_of(t) in ("epochs", "steps")), -1)
    if named or (unit >= 0 and following[0].kind != "number"):
        return _numbers_from(tokens, at + 1 + (0 if named else unit + 1), alone=True)
    numbers = _numbers_from(tokens, at + 1)
    after = tokens[numbers[-1] + 1] if numbers and numbers[-1] + 1 < len(tokens) else None
    share = bool(numbers) and tokens[numbers[0]].unit == "%" and after is not None and after.text == "of"
    counted = share or (after is not None and unit_of(after) in ("epochs", "steps"))
    once = tokens[at].has("every") and bool(numbers) and tokens[numbers[0]].value < 2
    return numbers if counted and not once else []


def _numbers_from(tokens: list[Token], at: int, alone: bool = False) -> list[int]:
    """The places of the numbers of a list that begins here: "30, 45 and 60".

    ``alone``: their unit stands before them, so "60, 90 epochs" ends with the 60.
    """
    found: list[int] = []
    for place in range(at, min(at + _REACH, len(tokens))):
        if tokens[place].kind == "number":
            if alone and found and not _in_list(tokens, place):
                break
            found.append(place)
        elif not found and tokens[place].text in ("at", ":", "=", "are", "the", "number"):
            continue
        elif tokens[place].text not in _LISTS or (tokens[place].kind == "break" and not found):
            break
    return found


def _in_list(tokens: list[Token], at: int) -> bool:
    """Whether a number of a list counts nothing of its own."""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    return after is None or after.kind in ("break", "join") or after.text in _LISTS | _BEFORE_VERB
