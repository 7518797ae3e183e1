"""Counts of steps and epochs that belong to something else: saving, evaluating, warming up, waiting, accumulating."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.pairing import accepts, in_normal_form
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_UNITS = word_set("counts", "units")
_KEEPS = frozenset({"keep", "keeping", "keeps", "retain", "retaining", "kept"})
_STAY = frozenset({"kept", "stay", "remain"})
_BETWEEN = word_set("counts", "between")
_NEGATED = frozenset(
    {"doesnt", "didnt", "hasnt", "isnt", "wont", "dont", "havent", "fails", "stops", "stopped"}
)
_STANDS_STILL = ("stagnat", "stall", "plateau", "flat")
# What a metric does, or fails to do, while one waits.
IMPROVES = (
    "stagnat",
    "stall",
    "plateau",
    "flat",
    "improv",
    "gone down",
    "go down",
    "gone up",
    "go up",
    "better",
    "decreas",
    "drop",
    "gain",
    "budge",
    "moved",
    "progress",
)


def owned_counts(line: Line) -> None:
    """Claim "every 500 steps", "warm up over the first 500 steps", "no improvement for 3 evaluations"."""
    for at, token in enumerate(line.tokens):
        if token.has("every") and not token.claimed:
            _cadence(line, at)
    for at, token in enumerate(line.tokens):
        if (
            token.kind == "number"
            and not token.claimed
            and at + 1 < len(line.tokens)
            and _unit(line.tokens[at + 1])
        ):
            _owned(line, at)


def kept_checkpoints(line: Line) -> None:
    """Claim "keep only the last two" and "keep no more than 3 checkpoints"."""
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed or token.unit or not 1 <= token.value <= 1000:
            continue
        before = {w for t in line.words(at - 6, at) for w in t.split()}
        after = line.words(at + 1, at + 4)
        keeps = bool(before & _KEEPS) or {"all", "but"} <= before or bool(_STAY & set(after[:2]))
        names_them = any(
            w in ("checkpoints", "checkpoint", "snapshots", "ckpts", "saves", "of them") for w in after
        ) or before & {"last", "latest", "recent", "newest"}
        saves = "save" in line.topic or any(t.has("save") for t in line.tokens)
        if keeps and (names_them or saves) and not (after and _counted(line.tokens[at + 1])):
            line.claim(Reading("save_total_limit", whole(token.value), at, at, settled=True))


def _counted(token: Token) -> bool:
    """Whether a number's noun has a key of its own."""
    own = (
        token.entry is not None
        and token.entry.named is not None
        and token.entry.named.key.name != "save_total_limit"
    )
    return own or token.has("data") or token.has("labels")


def _unit(token: Token) -> str:
    """ "epochs", "steps" or "evaluations" where the token is a unit of that kind."""
    if token.entry is not None and token.entry.named is not None:
        return {"epochs": "epochs", "max_steps": "steps"}.get(token.entry.named.key.name, "")
    return "evaluations" if token.text in _UNITS else ""


def _cadence(line: Line, at: int) -> None:
    tokens = line.tokens
    after = at + 1
    number = tokens[after] if after < len(tokens) and tokens[after].kind == "number" else None
    after += number is not None
    unit = _unit(tokens[after]) if after < len(tokens) else ""
    if not unit and number is not None and any(r.key in ("eval_steps", "save_steps") for r in line.readings):
        # "Every 100 steps an evaluation, every 400 a checkpoint".
        unit, after = "steps", after - 1
    if unit not in ("epochs", "steps") or (unit == "steps" and number is None):
        return
    for owner in _owners(line, at, after):
        if owner == "log":
            continue
        if unit == "epochs":
            condition = (
                f"every {whole(number.value)} epochs" if number is not None and number.value != 1 else ""
            )
            line.claim(Reading(f"{owner}_strategy", "epoch", at, after, condition=condition))
        else:
            assert number is not None
            line.claim(Reading(f"{owner}_strategy", "steps", at, after))
            line.claim(
                Reading(
                    f"{owner}_steps", whole(number.value * (1000 if number.unit == "k" else 1)), at, after
                )
            )
    for place in range(at, after + 1):
        tokens[place].claimed = True


def _owners(line: Line, first: int, last: int) -> list[str]:
    """What happens at this pace: the nearest of saving, evaluating and logging, and those joined to it by "and"."""
    before = _walk(line, range(first - 1, -1, -1), first)
    after = _walk(line, range(last + 1, len(line.tokens)), last)
    opens = first == 0 or not line.same_segment(first - 1, first) or line.tokens[first - 1].kind == "break"
    found = after or before if opens and after != ["log"] else before or after
    return found or [t for t in ("eval", "save") if t in line.topic]


def _walk(line: Line, places: range, origin: int) -> list[str]:
    found: list[str] = []
    nearest = -1
    for at in places:
        token = line.tokens[at]
        if token.has("every") and token.claimed:
            break
        if places.step > 0 and not line.same_segment(at, origin):
            break
        kinds = [kind for kind in ("eval", "save", "log") if token.has(kind)]
        if not kinds and token.entry is not None and any(key == "metric" for key, _ in token.entry.values):
            kinds = ["eval"]
        if not kinds:
            continue
        if nearest >= 0 and not _joined(line, min(at, nearest), max(at, nearest)):
            # "Print the accuracy every epoch": printing is how, evaluating is what.
            if found == ["log"] and abs(at - nearest) <= 4:
                found = []
            else:
                break
        found += [k for k in kinds if k not in found]
        nearest = at
    return [k for k in found if k != "log"] or found


def _joined(line: Line, first: int, last: int) -> bool:
    between = line.words(first + 1, last)
    return len(between) <= 4 and any(w in ("and", "&", "+", "/", "as well as", "plus") for w in between)


def _owned(line: Line, at: int) -> None:
    number, unit = line.tokens[at], _unit(line.tokens[at + 1])
    for place in _near(line, at):
        token = line.tokens[place]
        name = token.entry.named.key.name if token.entry is not None and token.entry.named is not None else ""
        if token.claimed or _has_own_number(line, place, at) or not _linked(line, place, at):
            continue
        if (token.text.startswith(IMPROVES) and _fails(line, place)) or name == "early_stopping_patience":
            _claim(line, "early_stopping_patience", at, (place,) if name else ())
            return
        if name in ("warmup", "warmup_steps"):
            if unit == "steps":
                _claim(line, "warmup_steps", at, (place,))
            elif unit == "epochs":
                # No key has it, and it is no count of epochs to train.
                for n in (at, at + 1, place):
                    line.tokens[n].claimed = True
            return
        if name == "gradient_accumulation" and unit != "epochs" and number.value > 0:
            _claim(line, "gradient_accumulation", at, (place,))
            return


def _fails(line: Line, place: int) -> bool:
    """Whether a metric fails to do what the word says: "no improvement", "does not go down", "stagnates"."""
    if line.tokens[place].text.startswith(_STANDS_STILL):
        return True
    before = line.tokens[max(0, place - 4) : place]
    return any(t.has("not") or t.text in _NEGATED for t in before)


def _has_own_number(line: Line, place: int, at: int) -> bool:
    """Whether another number stands right beside an owner."""
    beside = (n for n in (place - 1, place + 1) if 0 <= n < len(line.tokens) and n != at)
    return any(line.tokens[n].kind == "number" and line.same_segment(n, place) for n in beside)


def _near(line: Line, at: int) -> list[int]:
    """The places around a count, the nearest first, within its sentence."""
    reach = [n for n in range(max(0, at - 9), min(len(line.tokens), at + 8)) if n not in (at, at + 1)]
    return sorted(reach, key=lambda n: (abs(n - at), n))


def _linked(line: Line, place: int, at: int) -> bool:
    """Whether only small words lie between an owner and its count."""
    first, last = (place + 1, at) if place < at else (at + 2, place)
    return all(w in _BETWEEN for w in line.words(first, last))


def _claim(line: Line, key: str, at: int, also: tuple[int, ...]) -> None:
    from firstcause.check.brief.vocabulary import vocabulary

    number = line.tokens[at]
    if accepts(vocabulary().keys[key], number):
        reading = Reading(
            key, in_normal_form(vocabulary().keys[key], number), min((at, *also)), max((at + 1, *also))
        )
        reading.settled = key == "early_stopping_patience"
        line.claim(reading, at, at + 1, *also)
