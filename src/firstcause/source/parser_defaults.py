"""Defaults of options that ``parser.set_defaults`` gives: by their place, their parser, and the branch that they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.steps import Step

_GROUPS = ("add_argument_group", "add_mutually_exclusive_group")
_DECIDES = (ast.If, ast.For, ast.While, ast.Try, ast.ExceptHandler, ast.Match)


def set_by_default(place: Value, name: str) -> Iterator[tuple[Value, bool]]:
    """What ``parser.set_defaults(lr=1e-4)`` or ``(**mapping)`` gives an option, the last first, and whether it surely does."""
    for call in reversed(_set_defaults(place)):
        for keyword in call.keywords:
            if keyword.arg == name:
                yield Value(place.module, keyword.value), not _branches(place.module, call, place.node)
            elif keyword.arg is None:
                sure = all(
                    _is_of_what_it_reads(place.module, branch)
                    for branch in _branches(place.module, call, place.node)
                )
                yield Value(place.module, keyword.value, None, (Step("item", name),)), sure


def _set_defaults(place: Value) -> list[ast.Call]:
    """The calls of ``set_defaults`` of an option's parser, behind it: its own default goes before what was set earlier."""
    module, option = place.module, place.node
    parser = _parser(module, option)
    return [
        c
        for c in module.nodes(ast.Call)
        if isinstance(c.func, ast.Attribute)
        and c.func.attr == "set_defaults"
        and ast.unparse(c.func.value) == parser
        and (module.function(c) is not module.function(option) or c.lineno > option.lineno)
    ]


def _parser(module: Module, option: ast.AST) -> str:
    """The parser that an option is added to, by itself or in a group, as it is written."""
    func = option.func if isinstance(option, ast.Call) else None
    receiver = func.value if isinstance(func, ast.Attribute) else None
    if isinstance(receiver, ast.Name):
        groups = (a for a in module.nodes(ast.Assign) if isinstance(a.value, ast.Call))
        for group in groups:
            made = group.value.func if isinstance(group.value, ast.Call) else None
            named = any(isinstance(t, ast.Name) and t.id == receiver.id for t in group.targets)
            if named and isinstance(made, ast.Attribute) and made.attr in _GROUPS:
                return ast.unparse(made.value)
    return ast.unparse(receiver) if receiver is not None else ""


def _branches(module: Module, call: ast.Call, option: ast.AST) -> list[ast.AST]:
    """What decides whether a call is made, where it does not decide on the option too."""
    within = module.ancestors(option)
    return [n for n in module.ancestors(call) if isinstance(n, _DECIDES) and n not in within]


def _is_of_what_it_reads(module: Module, branch: ast.AST) -> bool:
    """Whether a branch asks only if there is what it reads: ``if args.config: parser.set_defaults(**load(args.config))``."""
    if not isinstance(branch, ast.If):
        return isinstance(branch, ast.Try)
    subject = branch.test.left if isinstance(branch.test, ast.Compare) else branch.test
    return any(ast.unparse(subject) in ast.unparse(s) for s in branch.body)
