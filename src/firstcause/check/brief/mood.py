"""How a value is meant: wanted or not, how firmly, under which condition, or only told."""

from __future__ import annotations

from firstcause.check.brief.did import did_something, never_again, of_another_run
from firstcause.check.brief.discarded import discarded
from firstcause.check.brief.excepted import has_exception, is_as_before, is_excepted
from firstcause.check.brief.lengths import is_cut
from firstcause.check.brief.moments import is_later, is_of_another_moment
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.reasons import is_only_reason
from firstcause.check.brief.taken_up import did_better, is_disliked, is_what_broke
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.told import asks, is_logged, is_told
from firstcause.check.brief.vocabulary import word_set

_REACH = 6
_BOUNDS = word_set("limits", "floors")
# Things one has or has not, so that "no A and B" denies both.
_TOOLS = frozenset({"framework", "distributed", "report_to", "offload", "dependency"})
_MACHINE = frozenset({"gpu", "num_gpus", "gpu_memory_gb"})
_CANNOT = frozenset({"cannot", "cant", "shouldnt", "mustnt", "not", "never", "neednt"})
_BEING = frozenset({"be", "been", "being", "become", "equal", "exactly", "ever", "set", "stay", "to", "at"})
_LOWERS = frozenset({"drop", "drop the", "lower", "reduce"})
_COUNTED = frozenset({"epochs", "max_steps", "early_stopping_patience"})
_OF_PARTS = frozenset({"for", "to", "on", "there", "of", "which", "in", "with", "during", "where"})
_ENOUGH = frozenset({"is enough", "are enough", "suffices", "suffice", "will do"})


def settle(line: Line) -> None:
    """Give every reading of a sentence its polarity, strength and condition, or mark it as told."""
    only_told = asks(line) or is_logged(line)
    for reading in line.readings:
        told = is_told(line, reading) and not reading.measured and not did_better(line, reading)
        reading.told = reading.told or only_told or told or is_what_broke(line, reading)
        reading.told = reading.told or is_disliked(line, reading)
        if reading.key == "task" and line.sentence.text.lower().startswith("subject:"):
            # "Subject: seam segmentation, second attempt".
            reading.told = False
        if reading.measured:
            continue
        if is_only_reason(line, reading) and not _after(line, reading):
            reading.told = True
        if discarded(line, reading):
            # A number that goes with what is not taken is not wanted nor excluded.
            reading.told, reading.settled = not isinstance(reading.value, str), True
            reading.polarity = "forbid"
        if isinstance(reading.value, (str, bool)) and never_again(line, reading):
            reading.told, reading.settled, reading.polarity = False, True, "forbid"
            reading.value = "none" if reading.value is True else reading.value
        elif did_something(line, reading) or of_another_run(line, reading):
            reading.told = True
        if not reading.settled:
            _negate(line, reading)
        reading.told = reading.told or is_of_another_moment(line, reading)
        _weigh(line, reading)
        if is_later(line, reading):
            # What the training begins with is another value.
            reading.strength = "may"


def _negate(line: Line, reading: Reading) -> None:
    strength = negated(line, reading)
    if strength and (is_excepted(line, reading) or has_exception(line, reading)):
        # Of a name the exception is the wish; of a count or a whole feature it is not said what holds.
        reading.told = not (isinstance(reading.value, str) and is_excepted(line, reading))
        return
    if strength and reading.key == "max_length" and is_cut(line, reading):
        # "Can be chopped off" denies nothing.
        return
    if strength and reading.key in _MACHINE and _of_something_else(line, reading):
        return
    if strength and reading.key == "do_sample":
        reading.value = not reading.value
    elif strength:
        reading.polarity = "forbid"
        reading.strength = "should" if strength == "not_needed" else "must"
        if reading.value is True:
            reading.value = "none"
    elif reading.key in ("report_to", "distributed", "early_stopping") and reading.value == "none":
        reading.told = True


def _of_something_else(line: Line, reading: Reading) -> bool:
    """Whether a "no" before a card has a noun of its own: "I start it without flags on our A4000"."""
    at = next((n for n in range(reading.first - 1, -1, -1) if line.tokens[n].has("not")), -1)
    between = line.tokens[at + 1 : reading.first]
    noun = bool(between) and between[0].kind == "word" and between[0].entry is None
    return at >= 0 and noun and any(t.text in ("on", "with", "for") for t in between[1:])


def negated(line: Line, reading: Reading) -> str:
    """The cue that denies a reading ("not", "not_needed", "not_after"), or nothing."""
    return _before(line, reading) or _between(line, reading) or _after(line, reading)


def _between(line: Line, reading: Reading) -> str:
    """A negation between the name and its value: "the batch size must not be 64", and not "not 32 but 64"."""
    inside = line.tokens[reading.first + 1 : reading.last] if reading.relation == "eq" else []
    denied = [n for n, token in enumerate(inside) if token.has("not") or token.text in _CANNOT]
    return "not" if denied and all(t.text in _BEING for t in inside[denied[-1] + 1 :]) else ""


def _before(line: Line, reading: Reading) -> str:
    tokens = line.tokens
    at = reading.first
    segment = tokens[at].segment
    crossed = 0
    while at > 0 and reading.first - at < _REACH + 6 * crossed:
        at -= 1
        token = tokens[at]
        if token.segment != segment:
            if not _list_goes_on(line, at + 1, reading):
                return ""
            segment = token.segment
            crossed += 1
        if token.has("no_negation"):
            return ""
        if token.text in _BOUNDS:
            # "Don't go below fp32" asks for fp32.
            return ""
        if token.text in ("over", "than") and any(
            t.text in ("prefer", "rather", "prefers", "preferred") for t in tokens[:at]
        ):
            return "not"
        for cue in ("not_needed", "not"):
            if token.has(cue):
                if is_as_before(line, at):
                    return ""
                if token.text in _LOWERS and any(t.text == "to" for t in tokens[at : reading.last]):
                    return ""
                return cue
        denied = at > 0 and (tokens[at - 1].has("not") or tokens[at - 1].has("not_needed"))
        if token.has("wish") and not denied:
            return ""
        if token.text == "and" and not _same_key(line, at, reading):
            return ""
        if token.kind == "number" and token.claimed:
            return ""
    return ""


def _list_goes_on(line: Line, at: int, reading: Reading) -> bool:
    """Whether the break at this place stands in a list of one key that "or" closes: "no A, B or C"."""
    tokens = line.tokens
    if tokens[at].text not in (",", "/"):
        return False
    if _of_features(line, at):
        return True
    said = [r for r in line.readings if r.key == reading.key]
    before = any(r.last in (at - 1, at - 2) for r in said)
    closed = any(t.text in ("or", "nor", "neither") for t in tokens[at : at + 8])
    return before and closed


def _of_features(line: Line, at: int) -> bool:
    """Whether features of any kind are listed from a negation to an "or": "no early stopping, clipping or AMP"."""
    tokens = line.tokens
    if not any(t.text in ("or", "nor") for t in tokens[at : at + 8]):
        return False
    for place in range(at - 1, -1, -1):
        token = tokens[place]
        if token.has("not") or token.has("not_needed"):
            return True
        known = token.is_setting
        after_no = place > 0 and (tokens[place - 1].has("not") or tokens[place - 1].has("not_needed"))
        if not known and token.text not in (",", "or", "nor", "any", "a", "the") and not after_no:
            return False
        if token.kind == "number":
            return False
    return False


def _same_key(line: Line, at: int, reading: Reading) -> bool:
    if reading.value == "full":
        return False
    before = [r for r in line.readings if r.last < at and at - r.last <= 2]
    return any(r.key == reading.key or {r.key, reading.key} <= _TOOLS for r in before)


def _after(line: Line, reading: Reading) -> str:
    tokens = line.tokens
    segment = tokens[reading.last].segment
    for at in range(reading.last + 1, min(reading.last + 5, len(tokens))):
        token = tokens[at]
        told_off = tokens[at - 1].text in (":", "=", "is", "stays", "set", "to") or at == reading.last + 1
        bare = told_off and token.text in ("no", "none", "false", "off", "disabled", "0")
        # "Packing no." denies, "epochs 3, no, 4" corrects.
        alone = at + 1 >= len(tokens) or (
            tokens[at + 1].kind == "break" and not (at + 2 < len(tokens) and tokens[at + 2].kind == "number")
        )
        if token.text == "out" and at == reading.last + 1 and alone:
            # "SGD out, Adam in".
            return "not"
        said_of_it = token.text == "no" or at == reading.last + 1
        if bare and token.text in ("no", "0") and said_of_it and not alone:
            # "LoRA no quantization", "plain torch: no Lightning": the no belongs to what follows.
            bare = False
        if (
            bare
            and token.text == "0"
            and tokens[at - 1].text == "to"
            and reading.key in ("learning_rate", "scheduler")
        ):
            # "A cosine from 0.1 to 0" says where it ends.
            return ""
        if token.segment != segment and not bare and tokens[at].text != ":":
            return ""
        if bare:
            return "not"
        if token.text in ("is", "are") and _ends_denied(tokens, at + 1):
            # "tf32 is fine, mixed precision is not."
            return "not"
        if token.text == "out" and any(
            t.text in ("leave", "leaving", "keep") for t in tokens[: reading.first]
        ):
            return "not"
        if token.has("not_after") and token.text not in ("false", "none"):
            return (
                "not_needed"
                if "need" in token.text or "necessary" in token.text or "required" in token.text
                else "not"
            )
        if (
            token.kind == "number"
            or token.text in ("and", "with")
            or any(r.first <= at <= r.last for r in line.readings if r is not reading)
        ):
            return ""
    return ""


def _ends_denied(tokens: list[Token], at: int) -> bool:
    """Whether "not" stands here and ends what is said."""
    ends = at + 1 >= len(tokens) or tokens[at + 1].kind == "break"
    return at < len(tokens) and tokens[at].text == "not" and ends


def _weigh(line: Line, reading: Reading) -> None:
    if reading.relation == "approx" and reading.strength == "must":
        reading.strength = "should"
    if reading.polarity == "forbid":
        return
    tokens = line.tokens
    statement = tokens[reading.first].statement
    segments = {tokens[reading.first].segment, tokens[reading.last].segment}
    for at, token in enumerate(tokens):
        if token.statement != statement or token.entry is None or reading.first < at < reading.last:
            continue
        if token.segment not in segments and _of_the_rest(tokens, token.segment):
            # "Rank 32, the others are fine" weighs the others.
            continue
        if reading.key == "max_length" and is_cut(line, reading):
            # "What is longer than 256 tokens can be cut": that it is cut is no choice.
            continue
        near = token.segment in segments or (
            abs(token.segment - tokens[reading.first].segment) == 1
            and not _has_readings(line, token.segment)
            and not _of_another(tokens, at, reading)
        )
        if near and token.text in _ENOUGH and reading.key in _COUNTED:
            if not _of_a_part(line, reading, at):
                # "One epoch is enough", "6 will do": another count is not wanted, an earlier one no more.
                reading.corrects = True
                continue
            if token.text != "will do":
                continue
        if near and "may" in token.entry.cues:
            fine = token.text in ("is fine", "are fine", "will do") and reading.key != "augmentation"
            reading.strength = "should" if fine else "may"
            break
        if near and "should" in token.entry.cues and reading.strength == "must":
            reading.strength = "should"
    for at, token in enumerate(tokens):
        if (
            token.text.split(" ", 1)[0] in ("if", "unless", "otherwise", "when")
            and (token.statement == statement or (at == 0 and statement - token.statement == 1))
            and not reading.condition
        ):
            last = next(
                (n for n in range(at + 1, len(tokens)) if tokens[n].segment != token.segment), len(tokens)
            )
            done = bool({"done", "finished", "over"} & set(line.words(at, last)))
            if (
                not done
                and not any(at < r.first < last for r in line.readings)
                and reading.value != "plateau"
                and reading.key not in ("early_stopping", "early_stopping_patience", "metric_for_best")
            ):
                reading.condition = " ".join(t.text for t in tokens[at:last])
                break


def _of_another(tokens: list[Token], at: int, reading: Reading) -> bool:
    """Whether what is weighed is something else: "10 epochs (step it once per epoch is fine)"."""
    own = [t for t in tokens[:at] if t.segment == tokens[at].segment]
    return any(w in ("it", "this", "them") for t in own[1:] for w in t.text.split()) and any(
        t.is_setting or t.has("every") for t in own
    )


def _of_the_rest(tokens: list[Token], segment: int) -> bool:
    words = {w for t in tokens if t.segment == segment for w in t.text.split()}
    return bool(words & {"others", "other", "rest", "everything", "else", "otherwise"})


def _has_readings(line: Line, segment: int) -> bool:
    return any(line.tokens[r.first].segment == segment for r in line.readings)


def _of_a_part(line: Line, reading: Reading, at: int) -> bool:
    """Whether a count is enough for something that is named: "for the smoke test one epoch is enough"."""
    statement = line.tokens[reading.first].statement
    before = words_in(
        t for t in line.tokens[: reading.first] if t.statement == statement and t.kind == "word"
    )
    after = words_in(line.tokens[at + 1 : at + 2])
    return bool(_OF_PARTS & {*before, *after})
