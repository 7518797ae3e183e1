"""A comment in which the code's author says why something is as it is: it turns a deviation into a note."""

from __future__ import annotations

import ast
import re
import tokenize

from firstcause.source.module import Module

# Words that give a reason; a comment that only names a value is none.
_REASON = re.compile(
    r"\b(because|since|otherwise|so that|to keep|to avoid|to fit|fits?|does ?n.t|do not|instead of|would|too (large|small|slow)"
    r"|nans?|oom|out of memory|memory|unstable|diverge[sd]?|needs?|only|supports?|requires?|recommended|deprecated|as agreed)\b",
    re.IGNORECASE,
)


def reason(module: Module, node: ast.AST) -> str:
    """The comment on a node's line, or on the lines right above it, if it gives a reason; else an empty text."""
    line = getattr(node, "lineno", 0)
    comments = comments_of(module)
    found = [comments[line]] if line in comments else []
    above = line - 1
    while above in comments and module.line(above).startswith("#"):
        found.insert(0, comments[above])
        above -= 1
    text = " ".join(found)
    return text if _REASON.search(text) else ""


def comments_of(module: Module) -> dict[int, str]:
    """The comments of a file by line, without their signs."""
    known = vars(module).get("comments")
    if known is None:
        try:
            known = {
                t.start[0]: t.string.lstrip("#").strip() for t in module.tokens if t.type == tokenize.COMMENT
            }
        except (tokenize.TokenError, SyntaxError):
            known = {}
        vars(module)["comments"] = known
    return known
