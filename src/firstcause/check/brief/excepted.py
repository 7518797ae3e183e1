"""What a refusal leaves out: "no augmentation other than flips", "no optimizer except AdamW"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading

_EXCEPT = (
    ["other", "than"], ["apart", "from"], ["aside", "from"], ["except", "for"], ["except"], ["besides"], ["beyond"],
)  # fmt: skip
_STAYS = frozenset({"same", "everything", "all", "rest", "unchanged", "keep", "identical"})
_REACH = 4


def is_excepted(line: Line, reading: Reading) -> bool:
    """Whether a value stands behind the exception: it is the one that is wanted."""
    before = [w for t in line.tokens[max(0, reading.first - _REACH) : reading.first] for w in t.text.split()]
    return any(begins_exception(before[n:]) for n in range(len(before)))


def has_exception(line: Line, reading: Reading) -> bool:
    """Whether an exception follows what is refused: not all of it is."""
    behind = [w for t in line.tokens[reading.last + 1 : reading.last + 3] for w in t.text.split()]
    return begins_exception(behind)


def is_as_before(line: Line, at: int) -> bool:
    """Whether what is excepted differs from what stays: "the same as the baseline except lr 2e-4"."""
    before = {w for t in line.tokens[:at] for w in t.text.split()}
    words = [w for t in line.tokens[at : at + 2] for w in t.text.split()]
    return begins_exception(words) and bool(before & _STAYS)


def begins_exception(words: list[str]) -> bool:
    """Whether an exception is what words begin with."""
    return any(words[: len(one)] == one for one in _EXCEPT)
