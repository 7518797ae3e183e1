"""What is evaluated on, where no share says it: the data set's own split, or so many lines that are held out."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_HOLDS = word_set("splits", "holds")
_HOLDING = word_set("splits", "holding")
_ITS_OWN = word_set("splits", "its_own")
_EVALUATES = ("evaluat", "eval", "validate", "validating", "score", "measur", "numbers", "report")
_SPLITS = frozenset({"validation", "valid", "val", "dev", "test", "testing", "development"})
_SHOWS = word_set("splits", "shows")
_IS_THERE = frozenset({"have", "has", "had", "contains", "comes", "there", "got", "consists", "includes"})
_NO_DATA = frozenset(
    {"people", "workers", "students", "users", "minutes", "hours", "days", "seconds", "weeks", "gpus"}
)
_VALIDATES = ("validat", "evaluat", "test")
_TIME = frozenset({"days", "weeks", "months", "years", "quarters", "seasons", "rows", "samples", "points"})
_ARE = frozenset({"is", "are", "be", "form", "makes", "make", "become", "becomes", "serve", "serves"})
_OF_THE_RUN = frozenset({"steps", "step", "training", "epochs", "run", "iterations", "updates"})
_REACH = 7


def held_out(line: Line) -> None:
    """Claim the split by its name, or the count of what is held out."""
    _own_split(line)
    _share_that_is_a_set(line)
    tokens = line.tokens
    for at, token in enumerate(tokens):
        whole_of = line.words(at - 2, at - 1) == ["of"] or (at == 1 and line.words(0, 1) == ["of"])
        if token.kind != "number" or token.claimed or not _counts(token) or whole_of:
            # "Of the 9000 rows" are all that there are.
            continue
        if line.words(at - 1, at) == ["in"] or (at > 1 and line.tokens[at - 2].kind == "number"):
            # "1 in 10 documents" is a share.
            continue
        held = {w for t in line.tokens[max(0, at - 2) : at] for w in t.text.split()} & _HOLDING
        if _is_shown(line, at):
            token.claimed = True
        elif _last_of_time(line, at):
            line.claim(Reading("data_split", whole(tokens[at].value), at, at))
        elif _of_data(line, at) or (
            held and at + 1 < len(line.tokens) and line.tokens[at + 1].key == "data_split"
        ):
            _count(line, at)


def _share_that_is_a_set(line: Line) -> None:
    """Claim the share in "the last 10% of the rows are the validation set"."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        share = token.kind == "number" and token.text.endswith("%") and not token.claimed
        if share and line.words(at - 2, at) == ["the", "last"] and _validated_on(line, at):
            line.claim(Reading("data_split", token.value / 100, at, at), at)
            return
        if not share or line.words(at - 1, at)[:1] not in (["last"], ["first"], ["final"], ["latest"]):
            continue
        for place in range(at + 1, min(at + _REACH + 3, len(tokens))):
            words = tokens[place].text.split()
            is_set = words[-1] in ("set", "split", "data") and words[0] in _SPLITS
            if tokens[place].kind == "break":
                break
            if is_set and _ARE & set(words_in(tokens[at:place])):
                line.claim(Reading("data_split", token.value / 100, at, place), at, place)
                return


def _validated_on(line: Line, at: int) -> bool:
    """Whether "validation loss on the last 10%" stands here."""
    before = [t for t in line.tokens[:at] if t.segment == line.tokens[at].segment]
    words = words_in(before)
    if _OF_THE_RUN & set(words_in(line.tokens[at + 1 : at + 5])):
        # "On the last 10% of the steps".
        return False
    return words[-3:] == ["on", "the", "last"] and any(w.startswith((*_VALIDATES, "eval")) for w in words)


def _own_split(line: Line) -> None:
    """Claim the name in "evaluate on the dataset's own `validation` split"."""
    tokens = line.tokens
    if not any(w.startswith(_EVALUATES) for w in words_in(tokens)):
        return
    for at, token in enumerate(tokens):
        words = token.text.strip("`'\"").split()
        name = next((w for w in words if w in _SPLITS), "")
        split = words[-1] in ("split", "set") or (
            at + 1 < len(tokens) and tokens[at + 1].text in ("split", "set")
        )
        if not name or not split or token.claimed:
            continue
        before = {w for t in tokens[max(0, at - 3) : at] for w in t.text.split()}
        if before & _ITS_OWN:
            last = at if words[-1] in ("split", "set") else at + 1
            line.claim(Reading("data_split", name, at, last))
            return


def _count(line: Line, at: int) -> None:
    tokens = line.tokens
    segment = tokens[at].segment
    near = [
        n
        for n in range(max(0, at - _REACH), min(len(tokens), at + _REACH + 1))
        if tokens[n].segment == segment and n != at and not tokens[n].claimed
    ]
    words = {w for n in near for w in tokens[n].text.split()}
    holds = any(
        tokens[n].text in _HOLDS
        or (tokens[n].text.startswith(("for a ", "as a ")) and tokens[n].key == "data_split")
        for n in near
    ) or ("aside" in words and bool(words & _HOLDING - {"aside"}))
    evaluated = any(w.startswith("evaluat") for w in words) or ("eval" in words and "for" in words)
    holding = bool(words & _HOLDING) and bool(words & _SPLITS or evaluated)
    named = next((n for n in near if tokens[n].key == "data_split"), -1)
    labelled = at > 1 and tokens[at - 1].text in (":", "=") and tokens[at - 2].key == "data_split"
    named = at - 2 if labelled else named
    purpose = named > at and tokens[named].text.startswith(("for ", "as "))
    evaluates = any(w.startswith(_EVALUATES) for w in words)
    if not (line.scene.training or evaluates) or words & _NO_DATA:
        return
    if words & _IS_THERE or not (holds or holding or labelled or purpose):
        return
    if tokens[at + 1].key in ("max_length", "max_steps", "epochs"):
        return
    places = {at, named} if named >= 0 else {at}
    line.claim(
        Reading(
            "data_split",
            whole(tokens[at].value * (1000 if tokens[at].unit == "k" else 1)),
            min(places),
            max(places),
        ),
        *places,
    )


def _is_shown(line: Line, at: int) -> bool:
    """Whether some of what is held out are looked at: "show me titles for five held-out reports"."""
    tokens = line.tokens
    before = [t for t in tokens[max(0, at - _REACH) : at] if t.segment == tokens[at].segment]
    shows = any(w in _SHOWS for w in words_in(before))
    measures = any(t.gives("metric") or t.has("eval") for t in before)
    held = at + 1 < len(tokens) and tokens[at + 1].key == "data_split"
    return shows and held and not measures and line.words(at - 1, at) not in (["on"], ["over"])


def _last_of_time(line: Line, at: int) -> bool:
    """Whether the last days, or months, are what is evaluated on: "validate on the last 365 days"."""
    tokens = line.tokens
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    before = words_in(t for t in tokens[max(0, at - _REACH) : at] if t.segment == tokens[at].segment)
    last = before[-1:] in (["last"], ["final"], ["latest"]) or "last" in before[-2:]
    passive = bool({"be", "is", "are", "gets"} & set(before))
    tested = any(
        w.startswith((*_VALIDATES, "hold", "held")) and (passive or not w.endswith("ed")) for w in before
    )
    return not line.scene.inference and after in _TIME and last and tested


def _counts(token: Token) -> bool:
    return (
        token.unit in ("", "k")
        and token.value == int(token.value)
        and (token.value >= 2 or token.unit == "k")
    )


def _of_data(line: Line, at: int) -> bool:
    """Whether a noun of the data is counted: "200 lines", "500 random documents"."""
    return any(
        t.has("data") or t.text in ("sample", "lines", "rows")
        for t in line.tokens[at + 1 : at + 3]
        if t.segment == line.tokens[at].segment
    )
