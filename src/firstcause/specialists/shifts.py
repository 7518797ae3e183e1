"""How targets of tokens lie to the tokens that their rows have seen, from the audit; what the program says it means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.lab.counterfactual import Ran
from firstcause.specialists.examination import Examination, Facts

# Targets that agree by chance: fewer values, or fewer comparisons, than this show nothing.
LEAST_VALUES, LEAST_COMPARED = 4, 40
ALL, BELOW = 0.999, 0.9


def of(found: Ran | None) -> list[Facts]:
    """The losses over tokens of which every target is a token at one distance from the last one seen."""
    seen: list[Facts] = (found.facts.get("shifted") or []) if found is not None else []
    cuts = {k: (found.facts.get(k) or []) if found is not None else [] for k in ("token_cuts", "attention")}
    return [s | cuts | {"distance": d} for s in seen if _enough(s) and (d := _distance(s)) is not None]


def _enough(one: Facts) -> bool:
    return bool(one["values"] >= LEAST_VALUES and one["compared"] >= LEAST_COMPARED)


def _distance(one: Facts) -> int | None:
    shares = {int(k): v for k, v in one["shares"].items()}
    whole = [k for k, v in shares.items() if v >= ALL]
    return (
        whole[0] if len(whole) == 1 and all(v < BELOW for k, v in shares.items() if k != whole[0]) else None
    )


def words(examination: Examination) -> str:
    """The identifiers, docstrings and texts of the program, in lower case: what it calls its own doing."""
    return examination.once("words", lambda: " ".join(_words(examination)).lower())


def _words(examination: Examination) -> Iterator[str]:
    for module in examination.project.modules if examination.project is not None else ():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def says(examination: Examination, pattern: str) -> bool:
    return re.search(pattern, words(examination)) is not None
