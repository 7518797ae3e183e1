"""The figures of a text in a few words, as they stand in it."""

from __future__ import annotations

from typing import Any

from firstcause.triage.reading import Reading

_GIB = (
    ("tried", "asked for {}"),
    ("free", "{} free"),
    ("total", "of {}"),
    ("allocated", "{} allocated"),
    ("reserved_unallocated", "{} reserved but unallocated"),
)
_LISTS = (
    ("losses", "losses {}"),
    ("shapes", "shapes {}"),
    ("sizes", "sizes {}"),
    ("dtypes", "dtypes {}"),
    ("devices", "devices {}"),
    ("steps", "step {}"),
    ("ranks", "ranks {}"),
    ("param_indices", "parameters {}"),
)
_SINGLE = (
    ("op", "in {}"),
    ("exit_code", "exit code {}"),
    ("seq", "collective {}"),
    ("timeout_ms", "timeout {} ms"),
    ("epoch", "epoch {}"),
    ("gpu_util", "GPU use {}"),
)
# More than so many figures in one line are not read.
MOST = 4


def figures(reading: Reading) -> str:
    """The figures that were read, at most four, separated by commas; empty where there are none."""
    facts = reading.facts
    found: list[str] = []
    gib = facts.get("gib")
    if isinstance(gib, dict):
        found += [words.format(gib[key]) for key, words in _GIB if key in gib]
    for key, words in _LISTS:
        value: Any = facts.get(key)
        if isinstance(value, (list, tuple)) and value:
            found.append(words.format(", ".join(map(str, value[:4]))))
    found += [
        words.format(facts[key]) for key, words in _SINGLE if isinstance(facts.get(key), (str, int, float))
    ]
    return ", ".join(found[:MOST])
