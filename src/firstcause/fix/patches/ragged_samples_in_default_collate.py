"""Samples of several shapes: the few that differ get the others' form; where all differ, batches are padded.

Facts:

- ``file``, ``line``: where the odd form is made, or the loader.
- ``rare``, ``made``: whether few differ, and the value that first does: ``name``, ``size``, ``usual``, ``dimension``, ``kind``.
- ``forms``: the forms of samples and how many have each: parts with path, kind and shape; ``own_collate``.
"""

from __future__ import annotations

import ast
import re

from firstcause.fix.additions import defined_before
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, atom, replaced
from firstcause.fix.scopes import imports_torch, named, statement_at
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.feeds import last_name

CAUSE = "ragged-samples-in-default-collate"
PAD = "pad_samples"


def line(facts: Facts, project: Project) -> Site | None:
    """Where the odd form is made, or the loader."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The odd ones in the usual form, or a collate function that pads; None where neither is plain."""
    module = module_of(facts, project)
    if module is None:
        return None
    if facts.get("rare"):
        return _usual(facts, project, root, module)
    return None if facts.get("own_collate") else _padding(facts, project, root, module)


def _usual(facts: Facts, project: Project, root: str, module: Module) -> Fix | None:
    statement = statement_at(module, facts)
    value = getattr(statement, "value", None)
    text = _formed(module, value, facts["made"]) if isinstance(value, ast.expr) else None
    if text is None or not isinstance(statement, (ast.Assign, ast.Return)) or not isinstance(value, ast.expr):
        return None
    made = facts["made"]
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, value, text)],
        f"Give `{made['name']}` at {module.site(statement)} the form that other samples have: {made['size']} becomes like "
        f"{made['usual']}.",
        "These samples enter batches like all others.",
        "What else is different about them: look at one before training on it.",
    )


def _formed(module: Module, value: ast.expr, made: Facts) -> str | None:
    """The value repeated along a dimension of one, cut along one that is too long, or stacked where a dimension lacks."""
    size, usual, at = list(made["size"]), list(made["usual"]), int(made["dimension"])
    text, library = module.segment(value), str(made["kind"])
    name = named(module, library)
    if name is None:
        return None
    if at >= 0 and size[at] == 1 and usual[at] > 1:
        repeat, axis = ("repeat", "axis") if library == "numpy" else ("repeat_interleave", "dim")
        return f"{name}.{repeat}({text}, {usual[at]}, {axis}={at})"
    if at >= 0 and size[at] > usual[at]:
        return f"{atom(module, value)}[{':, ' * at}:{usual[at]}]"
    if at < 0 and len(usual) == len(size) + 1:
        place = 0 if usual[0] <= 4 else len(size)
        axis = "axis" if library == "numpy" else "dim"
        return f"{name}.stack([{text}] * {usual[place]}, {axis}={place})"
    return None


def _padding(facts: Facts, project: Project, root: str, module: Module) -> Fix | None:
    parts = _ragged(facts)
    call = _call(module, int(facts["line"]))
    if parts is None or call is None or not imports_torch(module):
        return None
    keyword = "data_collator" if str(last_name(call.func)).endswith("Trainer") else "collate_fn"
    if any(k.arg == keyword for k in call.keywords):
        return None
    ignores = any(re.search(r"cross_entropy|CrossEntropyLoss", m.text) for m in project.modules)
    function = _function(parts, ignores)
    defined = defined_before(module, call, function) if function else None
    if defined is None:
        return None
    edits: list[Edit] = [defined, added_keyword(module, call, f"{keyword}={PAD}")]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Pad {', '.join(p or 'the samples' for p in parts)} to the longest of each batch, by `{keyword}` at "
        f"{module.site(call)}.",
        "Batches carry zeros behind their shorter samples, up to the longest.",
        "A model that reads the padding as values: give it the lengths or a mask.",
    )


def _ragged(facts: Facts) -> list[str] | None:
    """The paths whose first dimension alone varies; None where another does, or where a path lies deeper than one step."""
    sizes: dict[str, list[list[int]]] = {}
    for form, _, _ in facts.get("forms") or ():
        for path, _, size in form:
            sizes.setdefault(path, []).append(size)
    found = [p for p, s in sizes.items() if len({str(x) for x in s}) > 1]
    flat = all(p == "" or re.fullmatch(r"\[(\d+|'\w+')\]", p) for p in sizes)
    first_only = all(
        x and len(x) == len(sizes[p][0]) and x[1:] == sizes[p][0][1:] for p in found for x in sizes[p]
    )
    return found if found and flat and first_only else None


def _function(parts: list[str], ignores: bool) -> str | None:
    pad = "torch.nn.utils.rnn.pad_sequence([torch.as_tensor(v) for v in {values}], batch_first=True{more})"
    if parts == [""]:
        text = pad.format(values="samples", more="")
        return f"def {PAD}(samples):\n    return {text}"
    named = "'" in parts[0]
    lines = [f"def {PAD}(samples):"]
    whole = (
        "{k: [s[k] for s in samples] for k in samples[0]}" if named else "[list(c) for c in zip(*samples)]"
    )
    lines.append(f"    columns = {whole}")
    for number, path in enumerate(parts):
        more = ", padding_value=-100" if number and ignores else ""
        lines.append(f"    columns{path} = {pad.format(values=f'columns{path}', more=more)}")
    rows = "[dict(zip(columns, row)) for row in zip(*columns.values())]" if named else "list(zip(*columns))"
    lines.append(f"    return torch.utils.data.default_collate({rows})")
    return "\n".join(lines)


def _call(module: Module, line: int) -> ast.Call | None:
    """The call on a line that makes the loader, or the trainer that will make it."""
    calls = [n for n in module.nodes_on(line) if isinstance(n, ast.Call)]
    return next((c for c in calls if re.search(r"DataLoader$|Trainer$", str(last_name(c.func)))), None)
