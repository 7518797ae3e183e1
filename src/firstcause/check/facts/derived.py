"""Settings of a project's own class that is a library's: what its calls hand on, and the defaults that it puts in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import Family, families
from firstcause.check.facts.values import known_value, value_of
from firstcause.source.classes import own_method
from firstcause.source.resolve import Defined

# Families whose objects people derive from.
DERIVED = ("training arguments", "trl configuration", "lightning trainer", "accelerator")


def derived_facts(code: Code) -> Iterator[Fact]:
    """Facts of calls of such classes, where ``__init__`` hands its keywords on: given by the call, or by the class."""
    for family in (f for f in families() if f.name in DERIVED):
        for found in code.subclasses_of(*family.calls):
            assert isinstance(found.node, ast.ClassDef)
            init = own_method(found.node, "__init__")
            if init is not None and init.args.kwarg is None:
                continue
            for call in code.own_calls(found.node.name):
                yield from _of_call(call, family, found, init)


def _of_call(
    call: Call, family: Family, found: Defined, init: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Iterator[Fact]:
    given = {k.arg for k in call.node.keywords}
    put: dict[str, tuple[ast.expr, bool]] = (
        dict(_put_in(init)) if init is not None and None not in given else {}
    )
    for argument, key in family.arguments.items():
        node, always = put.get(argument, (None, False))
        value = value_of(call, argument)
        if node is not None and (always or argument not in given):
            value = known_value(call.code, found.module, node)
        plain = normal(key, value.value) if value is not None and value.value is not None else None
        if value is not None and plain is not None:
            how = f"{call.node.func.id if isinstance(call.node.func, ast.Name) else family.name}({argument}=)"
            yield Fact(key, plain, value.site, how, argument, not value.overridable)


def _put_in(init: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, tuple[ast.expr, bool]]]:
    """What ``__init__`` puts into its keywords, and whether it does so whatever the call gave."""
    name = init.args.kwarg.arg if init.args.kwarg is not None else ""
    for node in ast.walk(init):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "setdefault"
        ):
            is_own = isinstance(node.func.value, ast.Name) and node.func.value.id == name
            if is_own and len(node.args) == 2 and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value), (node.args[1], False)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            is_own = isinstance(target.value, ast.Name) and target.value.id == name
            if is_own and isinstance(target.slice, ast.Constant):
                yield str(target.slice.value), (node.value, True)
