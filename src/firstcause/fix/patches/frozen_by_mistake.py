"""Parameters that are switched off by mistake: a narrower name, the freezing undone behind it, or taken away.

Facts:

- ``reason``: how the mistake shows (``specialists/module_design_patterns/frozen_by_mistake``).
- ``wrong``: the class of the model and the name of each parameter that is off by mistake.
- ``right``, ``on``: the names of those that are off on purpose, and of those that train.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.fix.optimizers import constructions
from firstcause.fix.rewrite import replaced
from firstcause.fix.statements import inserted_line_after, inserted_line_before, removed
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.copies import DeepCopy, unfrozen_copies
from firstcause.source.switches import Switch, switches, thaws_by_name
from firstcause.source.tables import Table, maker, tables

CAUSE = "frozen-by-mistake"


def line(facts: Facts, project: Project) -> Site | None:
    """The text that is too wide, the second optimizer, or the statement that switches off."""
    if facts.get("reason") == "said-on":
        switch = _said_on(project)
        return switch.module.site(switch.statement) if switch is not None else None
    if facts.get("reason") == "added":
        made = constructions(project)
        return made[-1][0].site(made[-1][1]) if made else None
    if facts.get("reason") == "unmatched":
        tests = thaws_by_name(project)
        return tests[0][0].site(tests[0][1]) if tests else None
    if facts.get("reason") == "copied":
        copied = _copied(facts, project)
        return copied[0].module.site(copied[0].call) if copied else None
    if facts.get("reason") == "by-default":
        silent = _tables(facts, project)
        return silent[0].module.site(silent[0].call) if silent else None
    switch = _switch(facts, project)
    return switch.module.site(switch.statement) if switch is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The one change that leaves the right parts frozen and trains the others."""
    one = _edit(facts, project)
    edits = [one] if one is not None else []
    if facts.get("reason") == "copied":
        edits = [
            replaced(c.module, c.call, f"{c.module.segment(c.call)}.requires_grad_(True)")
            for c in _copied(facts, project)
        ]
    if facts.get("reason") == "by-default":
        edits = [_thawed(t) for t in _tables(facts, project)]
    if not edits:
        return None
    names = [name for _, name in facts.get("wrong") or []]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Train {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {_how(facts)}.",
        "They get gradients and are trained; memory for their gradients and the optimizer's state comes with it.",
        "An optimizer that is made before this line from the trainable parameters alone.",
    )


def _copied(facts: Facts, project: Project) -> list[DeepCopy]:
    """The copies that hold what is off by mistake."""
    parts = {str(name).partition(".")[0] for _, name in facts.get("wrong") or []}
    return [c for c in unfrozen_copies(project) if not c.part or c.part in parts]


def _how(facts: Facts) -> str:
    return {
        "said-on": "call requires_grad_(True), which reaches the parameters of a module",
        "added": "switch them on before the optimizer that is to train them is made",
        "by-default": "from_pretrained freezes where it is not told freeze=False",
        "copied": "a copy is off where what is copied is off, so switch it on",
        "idle": "do not switch them off",
        "evaluated": "do not switch them off for an evaluation",
        "unmatched": "look for the text wherever it stands in a name",
        "staged": "do not switch them off, or switch them on again before the stage that is to train them",
    }.get(str(facts.get("reason")), "freeze the part that is meant, and no other one")


def _edit(facts: Facts, project: Project) -> Edit | None:
    reason = facts.get("reason")
    if reason in ("by-default", "copied"):
        return None
    if reason == "unmatched":
        return _anywhere(project)
    if reason == "said-on":
        said = _said_on(project)
        text = f"{said.module.segment(said.receiver)}.requires_grad_(True)" if said is not None else ""
        return replaced(said.module, said.statement, text) if said is not None else None
    if reason == "added":
        return _before_optimizer(project)
    switch = _switch(facts, project)
    if switch is None:
        return None
    if reason in ("idle", "evaluated", "staged"):
        return removed(switch.module, switch.whole) if switch.on is False else None
    return _narrower(facts, switch) or _undone(facts, switch)


def _anywhere(project: Project) -> Edit | None:
    """``f".{prefix}." in f".{name}."`` in place of ``name.startswith(prefix)``: parts of a name, wherever they stand."""
    tests = thaws_by_name(project)
    if len(tests) != 1:
        return None
    module, call = tests[0]
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    name, given = call.func.value, call.args[0] if call.args else None
    if not isinstance(name, ast.Name) or not isinstance(given, ast.Name):
        return None
    return replaced(module, call, f'f".{{{given.id}}}." in f".{{{name.id}}}."')


def _said_on(project: Project) -> Switch | None:
    found = [s for s in switches(project) if s.on and s.is_attribute and not _in_loop(s)]
    return found[0] if len(found) == 1 else None


def _in_loop(switch: Switch) -> bool:
    """Whether what is switched is the variable of a loop over parameters: there the attribute is the right one."""
    root = switch.receiver
    loops = [n for n in switch.module.ancestors(switch.statement) if isinstance(n, ast.For)]
    names = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    texts = " ".join(switch.module.segment(loop.iter) for loop in loops)
    return isinstance(root, ast.Name) and root.id in names and "parameters" in texts


def _before_optimizer(project: Project) -> Edit | None:
    """``model.requires_grad_(True)`` on the line before the optimizer that holds ``model.parameters()``."""
    made = constructions(project)
    if len(made) < 2:
        return None
    module, call = made[-1]
    statement = module.statement(call)
    given = [
        c.func.value
        for c in ast.walk(call)
        if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute) and c.func.attr == "parameters"
    ]
    if len(given) != 1 or statement is None:
        return None
    return inserted_line_before(module, statement, f"{module.segment(given[0])}.requires_grad_(True)")


def _tables(facts: Facts, project: Project) -> list[Table]:
    names, made = [str(name) for _, name in facts.get("wrong") or []], tables(project)
    found = [maker(name, made, len(names)) for name in names]
    return list({id(t.call): t for t in found if t is not None}.values())


def _thawed(table: Table) -> Edit:
    """``freeze=False`` behind the last argument."""
    last = [*table.call.args, *(k.value for k in table.call.keywords)][-1]
    return replaced(table.module, last, f"{table.module.segment(last)}, freeze=False")


# ------------------------------------------------------------------ the statement that switches off


def _switch(facts: Facts, project: Project) -> Switch | None:
    """The one that names the parts best; None where several do alike."""
    found = [s for s in switches(project) if s.on is not True]
    if facts.get("reason") == "evaluated":
        found = [s for s in found if s.looks_only]
    elif facts.get("reason") == "idle":
        # What is switched off before the loop was off from the start.
        found = [s for s in found if s.module.function(s.statement) is not None or _looped(s)]
    # A value that decides may switch on as well.
    ranked = sorted(found, key=lambda s: (-_fit(facts, s), s.on is None))
    alike = [s for s in ranked if (_fit(facts, s), s.on) == (_fit(facts, ranked[0]), ranked[0].on)]
    if len(alike) > 1:
        return None
    return ranked[0] if ranked else None


def _looped(switch: Switch) -> bool:
    return len([n for n in switch.module.ancestors(switch.whole) if isinstance(n, (ast.For, ast.While))]) > 0


def _fit(facts: Facts, switch: Switch) -> int:
    """How much of the statement's own text, and of the loops and tests around it, stands in the parameters' names."""
    around = [n for n in switch.module.ancestors(switch.statement) if isinstance(n, (ast.For, ast.If))]
    words = {
        word
        for node in [switch.receiver, *(n.iter if isinstance(n, ast.For) else n.test for n in around)]
        for word in _words(node)
    }
    roots = {str(root).lower() for root, _ in facts.get("wrong") or []}
    parts = {p for _, name in facts.get("wrong") or [] for p in str(name).split(".")}
    exact = len(words & parts) + sum(1 for w in words if any(w.lower() in r for r in roots))
    begun = sum(1 for w in words if any(p.startswith(w) or w in p for p in parts))
    named = sum(w == "named_parameters" for w in words)
    return 3 * exact + 2 * begun + named


def _words(node: ast.AST) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return names | {
        n.value
        for n in ast.walk(node)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value
    }


# ------------------------------------------------------------------ what it may not take


def _narrower(facts: Facts, switch: Switch) -> Edit | None:
    """A text that all parts begin with, the wrong ones too, made as long as the right ones' own name."""
    wrong, right = [n for _, n in facts.get("wrong") or []], list(facts.get("right") or [])
    if not right or switch.on is None:
        return None
    module = switch.module
    found = [
        (n.value, n)
        for n in module.nodes(ast.Constant)
        if isinstance(n.value, str)
        and n.value
        and all(n.value in name for name in (*wrong, *right))
        and not isinstance(module.parents.get(n), ast.JoinedStr)
    ]
    if len({text for text, _ in found}) != len(found) or not found:
        return None
    text, constant = max(found, key=lambda f: len(f[0]))
    common = _common(right)
    for narrow in (common, common + "."):
        longer = text in narrow and narrow != text
        if longer and not any(narrow in name for name in (*wrong, *(facts.get("on") or []))):
            return replaced(module, constant, f'"{narrow}"')
    return None


def _common(names: list[str]) -> str:
    """The path of the module that all of them lie in."""
    found: list[str] = []
    for parts in zip(*(n.split(".")[:-1] for n in names), strict=False):
        if len(set(parts)) > 1:
            break
        found.append(parts[0])
    return ".".join(found)


def _undone(facts: Facts, switch: Switch) -> Edit | None:
    """``model.part.requires_grad_(True)`` on the line after the freezing."""
    whole, module = switch.whole, switch.module
    # What an inner loop goes through is a variable of the outer one.
    within = whole.iter if isinstance(whole, ast.For) else whole
    roots = [
        c.func.value
        for c in ast.walk(within)
        if isinstance(c, ast.Call)
        and isinstance(c.func, ast.Attribute)
        and c.func.attr in ("parameters", "named_parameters", "children", "named_children", "modules")
    ] or ([switch.receiver] if not switch.is_attribute else [])
    if len(roots) != 1:
        return None
    owner, path = _split(module.segment(roots[0]), [str(n) for _, n in facts.get("wrong") or []])
    parts = _parts([str(n) for _, n in facts.get("wrong") or []], [*(facts.get("right") or [])], path)
    if not parts:
        return None
    receivers = [f"{owner}.{p}" if not p.isdigit() else f"{owner}[{p}]" for p in parts]
    text = (
        f"{receivers[0]}.requires_grad_(True)"
        if len(receivers) == 1
        else f"for part in ({', '.join(receivers)}): part.requires_grad_(True)"
    )
    return inserted_line_after(module, whole, text)


def _split(owner: str, names: list[str]) -> tuple[str, str]:
    """``model.net`` and the prefix ``net.`` where all names begin so: the freezing was of that part."""
    last = owner.rpartition(".")[2]
    inside = "." in owner and all(n.startswith(last + ".") for n in names)
    return owner, f"{last}." if inside else ""


def _parts(wrong: list[str], right: list[str], path: str) -> list[str]:
    """The shortest paths that hold wrong parameters and no right ones."""
    found: list[str] = []
    for name in wrong:
        own = name.removeprefix(path).split(".")
        for depth in range(1, len(own) + 1):
            part = ".".join(own[:depth])
            if not any((r.removeprefix(path) + ".").startswith(part + ".") for r in right):
                if part not in found:
                    found.append(part)
                break
    return found if len(found) <= 6 else []
