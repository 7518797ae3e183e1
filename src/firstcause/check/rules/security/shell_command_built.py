"""A shell runs a command that is put together from values.

Why: a space, a quote or a semicolon in a value changes the command; with values from outside, it is anybody's command.
Refuted by: a list of arguments without a shell, shlex.quote, a command that is written out.
Holds for: Python, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import is_true
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "shell-command-built"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

RUNS = (
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
)


def find(code: Code) -> Iterator[Finding]:
    runs = [c for c in code.calls(*RUNS) if is_true(c, "shell")] + code.calls("os.system", "os.popen")
    for call in runs:
        if not call.node.args:
            continue
        origins = code.origins(call.module, call.node.args[0])
        if any(_built(o.node) for o in origins):
            text = "the shell gets a command put together from values; a list of arguments needs no shell"
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _built(node: ast.AST) -> bool:
    if not isinstance(node, ast.JoinedStr):
        return False
    values = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    return any(not _quoted(v) and not _is_number(v) for v in values)


def _quoted(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("quote")


def _is_number(node: ast.expr) -> bool:
    """An attribute or name that is formatted as it is may be anything; a number written out is none."""
    return isinstance(node, ast.Constant)


_BODY = """
import os
import shlex
import subprocess

def pack(folder):
    {run}{mark}
"""
BAD = (
    Example(_BODY.format(run='subprocess.run(f"tar czf out.tgz {folder}", shell=True)', mark="  # found")),
    Example(_BODY.format(run='os.system(f"rm -r {folder}/tmp")', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(run='subprocess.run(["tar", "czf", "out.tgz", folder])', mark="")),
    Example(
        _BODY.format(run='subprocess.run(f"tar czf out.tgz {shlex.quote(folder)}", shell=True)', mark="")
    ),
    Example(_BODY.format(run='os.system("nvidia-smi")', mark="")),
)
