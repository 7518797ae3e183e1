"""What a rule is: one file that finds one kind of fault, with the examples that are its tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from firstcause.check.code import Code
from firstcause.schema.finding import Category, Finding

MAIN = "train.py"
# On the lines of an example where the rule must speak.
MARK = "# found"


@dataclass(frozen=True)
class Example:
    """A program; in a bad one the lines that end in ``# found`` are those of the findings.

    ``source`` is ``train.py``; ``files`` holds further files by name. ``fixed`` is the program after the rule's own
    fix, where it has one. ``asked`` are keys and values of the brief, or whole instructions by any name.
    """

    source: str
    files: Mapping[str, str] = field(default_factory=dict)
    fixed: str = ""
    asked: Mapping[str, Any] = field(default_factory=dict)


class Rule(Protocol):
    """A module of ``check/rules``; its docstring has the headings Why, Refuted by, Holds for.

    ``HOLDS`` gives version ranges by library, such as {"transformers": ">=5"}: where the project pins or has another
    version, the rule is silent. ``BAD`` and ``GOOD`` are examples; at least two bad ones and three good ones, one of
    them a near miss.
    """

    __name__: str
    SLUG: str
    CATEGORY: Category
    HOLDS: Mapping[str, str]
    BAD: tuple[Example, ...]
    GOOD: tuple[Example, ...]

    def find(self, code: Code) -> Iterator[Finding]:
        """The findings in a project's code, each at the statement to change."""
        ...
