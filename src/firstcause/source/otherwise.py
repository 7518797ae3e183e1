"""A loop over elements written otherwise, each way by its name. Standard library only: the experiments run before torch."""

from __future__ import annotations

import ast

from firstcause.source.batched import batched
from firstcause.source.iterated import iterated
from firstcause.source.listed import listed
from firstcause.source.vectorised import together

WAYS = frozenset({"batched", "together", "listed", "every", "iterated"})


def otherwise(statement: ast.stmt, way: str) -> str | None:
    """The text that takes the place of a loop, or of a statement with a list made by one; None for another form."""
    if way in ("batched", "together"):
        return batched(statement) if way == "batched" else together(statement)
    if not isinstance(statement, ast.For):
        return None
    made = iterated(statement) if way == "iterated" else listed(statement, way == "every")
    return "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in made) if made is not None else None
