"""The patch that somebody in a hurry makes: it hides what shows the fault, and leaves the fault."""

from __future__ import annotations

import ast

from pressure.fixture import Fixture


def symptom_patch(fixture: Fixture) -> str:
    """The program with its symptom hidden: exceptions are caught in the loop, steps with NaN skipped, or the rate is halved."""
    kind = fixture.truth["symptom"]
    if kind == "exception":
        return _caught(fixture.faulty)
    return _skipped(fixture.faulty) if kind == "nan" else _slower(fixture.faulty)


def _caught(text: str) -> str:
    """The body of the innermost loop that steps, in a try whose except passes on to the next."""
    lines = text.split("\n")
    loops = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.For, ast.While)) and _steps(n)]
    loop = max(loops, key=lambda node: node.lineno)
    first, last = loop.body[0].lineno - 1, loop.body[-1].end_lineno or loop.body[-1].lineno
    indent = " " * loop.body[0].col_offset
    body = [f"    {line}" if line.strip() else line for line in lines[first:last]]
    caught = [
        f"{indent}try:",
        *body,
        f"{indent}except (RuntimeError, IndexError, ValueError):",
        f"{indent}    continue",
    ]
    return "\n".join([*lines[:first], *caught, *lines[last:]])


def _steps(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("backward", "step") for n in ast.walk(node))


def _skipped(text: str) -> str:
    """Each step whose loss is not finite skipped, right before its backward."""
    lines = text.split("\n")
    calls = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
    ]
    for call in sorted(calls, key=lambda node: -node.lineno):
        at = call.lineno - 1
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        value = ast.unparse(call.func.value)  # type: ignore[attr-defined]
        lines[at] = f"{indent}if not torch.isfinite({value}):\n{indent}    continue\n{lines[at]}"
    return "\n".join(lines)


def _slower(text: str) -> str:
    """Half the learning rate, wherever one is written as a number."""
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == "lr" and isinstance(node.value, ast.Constant):
            at, value = node.value.lineno - 1, node.value
            lines[at] = f"{lines[at][: value.col_offset]}0.5 * {lines[at][value.col_offset :]}"
            return "\n".join(lines)
    return text.rstrip("\n") + "\n# checked\n"
