"""Where results go and when they are saved."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import path
from firstcause.check.facts.saves import when_saved
from firstcause.check.facts.values import text_at_definition
from firstcause.check.ranks import one_rank_only, writes
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

SAVERS = (
    "save_pretrained",
    "save_model",
    "save_state",
    "save_checkpoint",
    "save_lora_weights",
    "save_adapter",
)


def output_facts(code: Code) -> Iterator[Fact]:
    """Facts of output_dir, output_path and save_strategy of code that saves by itself."""
    saves = [
        (c, _target(code, c))
        for c in [
            *code.calls("torch.save"),
            *code.methods(*SAVERS),
            *code.calls("safetensors.torch.save_file"),
        ]
    ]
    for call, target in saves:
        if target is None:
            continue
        site = getattr(target, "site", call.site)
        text = str(getattr(target, "value", ""))
        if call.name.startswith(".") and not os.path.splitext(text)[1]:
            yield Fact("output_dir", path(text), site, call.name.lstrip("."))
            continue
        yield Fact("output_path", path(text), site, call.name)
        folder = os.path.dirname(text)
        if folder and "{" not in folder:
            yield Fact("output_dir", path(folder), site, call.name)
    yield from when_saved(code, [c for c, _ in saves])
    yield from _every(code, {c.node for c, _ in saves} | {c.node for c in code.methods_and_calls(*SAVERS)})
    yield from _by_one_rank(code)


def _every(code: Code, saves: set[ast.Call]) -> Iterator[Fact]:
    """After each N steps: ``if step % N == 0: save(…)``, by itself or in a function of the program's own."""
    for module in code.modules if code.asked("save_steps") else ():
        for test in module.nodes(ast.If):
            moduli = [
                n.right for n in ast.walk(test.test) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod)
            ]
            calls = [c for s in test.body for c in ast.walk(s) if isinstance(c, ast.Call)]
            if moduli and any(c in saves or _saves(code, module, c, saves) for c in calls):
                every = code.constant(module, moduli[0])
                if every is not None and isinstance(every.value, int):
                    how = "the modulo before a save"
                    yield Fact("save_steps", every.value, every.site, how, sure=not every.overridable)


def _saves(code: Code, module: Module, call: ast.Call, saves: set[ast.Call]) -> bool:
    found = resolve(code.project, module, call.func)
    return isinstance(found, Defined) and any(n in saves for n in ast.walk(found.node))


def _by_one_rank(code: Code) -> Iterator[Fact]:
    """That one process alone writes, where each call that writes weights stands behind a test of the rank."""
    plain = writes(code)
    guarded = [c for c in plain if one_rank_only(code, c)] if code.asked("save_rank") else []
    if guarded and len(guarded) == len(plain):
        yield Fact("save_rank", 0, guarded[0].site, "a test of the rank", confirms=True)


def _target(code: Code, call: Call) -> object:
    """The path that is written; the parts of an f-string that vary stand as braces."""
    value = (
        call.argument("f", 1)
        if call.name in ("torch.save", "safetensors.torch.save_file")
        else call.argument("save_directory", 0)
    )
    if value is None:
        return None
    return text_at_definition(code, Value(call.module, value.node))
