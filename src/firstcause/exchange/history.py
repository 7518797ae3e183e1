"""What another program kept of a training: figures by name and step, in one form for all formats."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.errors import InputError

# More than any history that a person looks at; a damaged file may claim any number.
MOST_VALUES = 200_000_000


@dataclass
class Series:
    """One figure over the steps; the time of a value is in seconds since 1970, NaN where it is not known."""

    steps: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))
    times: array[float] = field(default_factory=lambda: array("d"))

    def ordered(self) -> Series:
        """By step; of a step that was written again, as after a restart, what came last."""
        if all(a < b for a, b in zip(self.steps, self.steps[1:], strict=False)):
            return self
        last = {step: at for at, step in enumerate(self.steps)}
        places = [last[step] for step in sorted(last)]
        return Series(
            array("q", (self.steps[at] for at in places)),
            array("d", (self.values[at] for at in places)),
            array("d", (self.times[at] for at in places)),
        )


@dataclass
class History:
    """Where it was read from, in which format, and the series by the names that its program gave them."""

    path: str
    kind: str
    series: dict[str, Series] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def add(self, name: str, step: int, value: float, time: float = math.nan) -> None:
        """Take one value; raises ``InputError`` where there are more than can be held."""
        self.count += 1
        if self.count > MOST_VALUES:
            message = f"{self.path} holds more than {MOST_VALUES:,} values"
            raise InputError("history-too-large", message, "import a part of it")
        series = self.series.setdefault(name, Series())
        series.steps.append(step)
        series.values.append(value)
        series.times.append(time)

    def times(self) -> Iterator[float]:
        """The times that are known, of all values."""
        return (t for series in self.series.values() for t in series.times if math.isfinite(t))
