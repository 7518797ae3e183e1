"""What a user expects of a run, such as ``val_acc > 0.5`` or ``mean(last 10 loss) < 0.2``: read, watched, judged."""

from __future__ import annotations

import math
import operator
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from firstcause.errors import InputError
from firstcause.schema import Expectation

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
WAYS = ("last", "first", "min", "max", "mean")
# A phrase before a number that only ends with the name: so many different ones are remembered.
MOST_PHRASES = 20
MOST_VALUES = 100_000
HINT = "write it as --expect 'val_acc > 0.5', 'min(val_loss) < 0.3' or 'mean(last 10 loss) < 0.2'"
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_PIECES = re.compile(
    rf"(?P<number>{_NUMBER}|[-+]?\b(?:nan|inf(?:inity)?)\b)|(?P<word>[^\W\d]\w*(?:[-/.@]\w+)*)|(?P<other>\S)",
    re.IGNORECASE,
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_WRAPPERS = re.compile(r"\b(?:tensor|array|np\.\w+)\(")
_PARTS = re.compile(r"[a-z0-9]+")
# Between a name and its number may stand these; anything else begins a new phrase.
_LINKS = frozenset(":=\"'")

Name = tuple[str, ...]


def name_of(text: str) -> Name:
    """A name as it is compared: "val_acc", "Val acc" and "val/acc" are one."""
    return tuple(_PARTS.findall(text.lower()))


@dataclass
class Values:
    """Numbers as they come, reduced on the way; a NaN is no smallest and no largest one."""

    way: str
    window: int | None = None
    count: int = 0
    _value: float = math.nan
    _kept: deque[float] = field(default_factory=deque)

    def add(self, number: float) -> None:
        self.count += 1
        if self.way == "mean":
            self._kept.append(number)
            if len(self._kept) > (self.window or MOST_VALUES):
                self._kept.popleft()
        elif self.way == "last" or self.count == 1 or (math.isnan(self._value) and self.way != "first"):
            self._value = number
        elif self.way == "min":
            self._value = min(self._value, number) if not math.isnan(number) else self._value
        elif self.way == "max":
            self._value = max(self._value, number) if not math.isnan(number) else self._value

    @property
    def value(self) -> float:
        return math.fsum(self._kept) / len(self._kept) if self.way == "mean" else self._value


class Expected:
    """One expectation, and what has been seen of it so far."""

    def __init__(
        self, text: str, name: Name, way: str, window: int | None, compare: str, bound: float
    ) -> None:
        self.text, self.name, self.way, self.window = text, name, way, window
        self.compare, self.bound = compare, bound
        self._exact = Values(way, window)
        self._ending: dict[tuple[str, ...], Values] = {}

    def read(self, line: str) -> None:
        """Look for the name and a number behind it in one line of the program's output."""
        if self.name[-1] not in line.lower():
            return
        for words, number in numbers(line):
            if name_of(" ".join(words)) == self.name:
                self._exact.add(number)
            elif len(self._ending) <= MOST_PHRASES and self._ends(words):
                self._ending.setdefault(words, Values(self.way, self.window)).add(number)

    def _ends(self, words: tuple[str, ...]) -> bool:
        """Whether the last of the words, each taken whole, are the name: "final acc" ends with acc, "val_acc" not."""
        last = words[-len(self.name) :]
        return any(name_of(" ".join(last[i:])) == self.name for i in range(len(last)))

    def judged(self, columns: Mapping[str, Iterable[float]]) -> Expectation:
        """Met or not by what was seen: in the output under its name, else recorded, else under one longer name."""
        if self._exact.count:
            return self._against(self._exact, "in the output")
        recorded = next((c for c in columns if name_of(c) == self.name), None)
        if recorded is not None:
            values = Values(self.way, self.window)
            for number in columns[recorded]:
                values.add(number)
            if values.count:
                return self._against(values, f"in the recorded column {recorded}")
        if len(self._ending) == 1:
            ((phrase, values),) = self._ending.items()
            return self._against(values, f"in the output as {' '.join(phrase)!r}")
        if self._ending:
            several = ", ".join(repr(" ".join(p)) for p in self._ending)
            return Expectation(
                self.text, None, None, f"never seen alone: the output has {several}; name one of them"
            )
        return Expectation(
            self.text, None, None, "never seen: no line of the output and no recorded column names it"
        )

    def _against(self, values: Values, where: str) -> Expectation:
        times = "one value" if values.count == 1 else f"{values.count} values"
        met = COMPARISONS[self.compare](values.value, self.bound)
        return Expectation(self.text, values.value, met, f"{times} {where}")


def parse(text: str) -> Expected:
    """Read an expectation; raises ``InputError`` where it is none. Nothing is evaluated."""
    sign = next((s for s in COMPARISONS if s in text), None)
    if sign is None:
        raise InputError("bad-expectation", f"{text!r} holds no comparison such as > or <=", HINT)
    left, _, right = text.partition(sign)
    try:
        bound = float(right)
    except ValueError:
        raise InputError("bad-expectation", f"{right.strip()!r} in {text!r} is no number", HINT) from None
    way, window, name = _reduced(left.strip(), text)
    if not name_of(name):
        raise InputError("bad-expectation", f"{text!r} names nothing that could be looked for", HINT)
    return Expected(text, name_of(name), way, window, sign, bound)


def _reduced(left: str, text: str) -> tuple[str, int | None, str]:
    head, opened, inner = left.partition("(")
    if not opened:
        return "last", None, left
    way = head.strip().lower()
    if way not in WAYS or not inner.endswith(")"):
        raise InputError(
            "bad-expectation", f"{left!r} in {text!r} is none of {', '.join(WAYS)} of a name", HINT
        )
    inner = inner[:-1].strip()
    words = inner.split()
    if way == "mean" and len(words) > 2 and words[0] == "last" and words[1].isdecimal():
        window = int(words[1])
        if not 0 < window <= MOST_VALUES:
            raise InputError(
                "bad-expectation", f"{window} in {text!r} is not between 1 and {MOST_VALUES}", HINT
            )
        return way, window, " ".join(words[2:])
    return way, None, inner


def numbers(line: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """Each number of a line with the words right before it: "epoch 3 val acc: 0.43" gives val acc, 0.43."""
    words: list[str] = []
    for match in _PIECES.finditer(_WRAPPERS.sub(" ", _ESCAPES.sub("", line))):
        if match["number"] is not None:
            if words:
                yield tuple(words), float(match["number"])
            words = []
        elif match["word"] is not None:
            words.append(match["word"])
        elif match["other"] not in _LINKS:
            words = []
