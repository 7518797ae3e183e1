"""Known defects and changes of libraries, by version."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from firstcause.catalog.index import COMPILE, indexed
from firstcause.errors import KnowledgeError
from firstcause.schema import from_plain

RANGE = re.compile(r"(==|>=|<=|<|>)(\d+(?:\.\d+)*)")


@dataclass(frozen=True)
class Defect:
    """What goes wrong with some versions of a library, how to tell, and what helps.

    ``versions`` are bounds with commas between, such as ``>=2.9,<2.10``; empty for every version that is known.
    """

    slug: str
    title: str
    library: str
    versions: str
    what: str
    tell: tuple[str, ...]
    remedy: str
    patterns: tuple[str, ...]
    source: str

    def concerns(self, version: str) -> bool:
        """Whether a version, such as ``2.9.1+cu128``, lies within all bounds; False for one that cannot be read."""
        if not re.match(r"\d", version):
            return False
        release = _release(version)
        return all(
            _within(release, operator, _release(bound)) for operator, bound in RANGE.findall(self.versions)
        )


def _release(version: str) -> tuple[int, ...]:
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in numbers[0].split(".")] if numbers else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _within(release: tuple[int, ...], operator: str, bound: tuple[int, ...]) -> bool:
    return {
        "==": release == bound,
        ">=": release >= bound,
        "<=": release <= bound,
        ">": release > bound,
        "<": release < bound,
    }[operator]


@functools.cache
def load_defects() -> dict[str, Defect]:
    """Every defect by its slug; raises ``KnowledgeError`` where one cannot be used."""
    try:
        return {slug: from_plain(Defect, values, slug) for slug, values in indexed("defects").items()}
    except ValueError as error:
        raise KnowledgeError("catalogue-invalid", str(error), COMPILE) from error


def known_defects(versions: Mapping[str, str]) -> list[Defect]:
    """The defects of these versions by package name; a wheel for one CUDA, such as nvidia-cudnn-cu12, is its library."""
    found = []
    for name, version in versions.items():
        library = re.sub(r"-cu\d+$", "", name.lower().replace("_", "-"))
        found += [d for d in load_defects().values() if d.library == library and d.concerns(version)]
    return found
