"""A tensor that the graph saved is written in place: the write makes a new tensor instead.

Facts:

- ``file``, ``line``: the user's line that writes; ``column``, ``end_column``, ``end_line`` optional.
- ``grad``: whether gradient mode was on there; a write under no_grad is meant to change that very tensor.
- ``saved_at``: ``file`` and ``line`` of the op that saved the tensor; optional.
- ``class_name``, ``attribute_path``, ``module_class``: a module of torch.nn built with ``inplace=True`` that wrote; optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import atom, called, replaced
from firstcause.fix.saved_reads import copied_where_saved
from firstcause.fix.scopes import statement_at
from firstcause.fix.statements import inserted_line_before
from firstcause.fix.submodules import constructions
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Module, Project

CAUSE = "inplace-modified-saved-tensor"
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
# Writers without a twin that gives a new tensor.
NO_TWIN = frozenset(
    {"zero_", "fill_", "copy_", "set_", "resize_", "data", "requires_grad_", "detach_", "random_"}
)
# Modules of functions that write into their arguments on purpose.
NO_TENSORS = frozenset({"init", "utils"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line that writes, or where the module that writes in place is built."""
    built = _built(facts, project)
    if len({(c.site.file, c.site.line) for c in built}) == 1:
        return built[0].site
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Let the line make a new tensor; None where others may hold the old one under another name."""
    if facts.get("module_class"):
        return _of_module(facts, project, root)
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    if module is None or statement is None:
        return None
    if not facts.get("grad", True):
        return _of_the_reader(facts, project, root, module, statement)
    edits = _edits(module, statement)
    if not edits:
        return None
    site, text = module.site(statement), module.segment(statement).splitlines()[0]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Make a new tensor at {site} instead of writing into one that the graph has saved.",
        f"{site}: `{text}` no longer changes its tensor in place; the step needs memory for one more tensor of its size.",
        "Other names for the same tensor: they keep the value from before this line.",
    )


def _of_the_reader(
    facts: Facts, project: Project, root: str, module: Module, statement: ast.stmt
) -> Fix | None:
    """The write is meant; the op that saved the state is given a copy of it."""
    saved = facts.get("saved_at") or {}
    if saved.get("file") != facts.get("file"):
        return None
    edits = copied_where_saved(module, statement, int(saved["line"]))
    if not edits:
        return None
    text, place = module.line(int(saved["line"])).strip(), f"{module.name}:{saved['line']}"
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Let `{text}` at {place} read a copy: {module.site(statement)} writes into what it has saved, before the backward.",
        f"{place}: the graph saves the copy; the step needs memory for one more tensor of its size.",
        "Writing after the backward would need no copy, where the order of the step allows it.",
    )


def _edits(module: Module, statement: ast.stmt) -> list[Edit]:
    if isinstance(statement, ast.AugAssign):
        return _augmented(module, statement)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            return _reads_cloned(module, statement.value, target.value) or _cloned(
                module, statement, target.value
            )
        found = _called(statement.value)
        own = found is not None and ast.dump(found[1], annotate_fields=False) == _read(target)
        return [_renamed(module, found[0])] if found is not None and (own or _is_fresh(found[1])) else []
    if isinstance(statement, ast.Expr):
        found = _called(statement.value)
        if found is None or found[0] is not statement.value or not _is_place(found[1]):
            return []
        start = (statement.lineno, statement.col_offset)
        name = module.segment(found[1])
        return [Edit(module.path, start, start, f"{name} = "), _renamed(module, found[0])]
    found = _called(statement)
    return [_renamed(module, found[0])] if found is not None and _is_fresh(found[1]) else []


def _augmented(module: Module, statement: ast.AugAssign) -> list[Edit]:
    operator = OPERATORS.get(type(statement.op))
    if isinstance(statement.target, ast.Subscript):
        return _cloned(module, statement, statement.target.value)
    if operator is None or not _is_place(statement.target):
        return []
    target = module.segment(statement.target)
    text = f"{target} = {target} {operator} {atom(module, statement.value)}"
    return [replaced(module, statement, text)]


def _cloned(module: Module, statement: ast.stmt, target: ast.expr) -> list[Edit]:
    """A copy before the write, so that what was saved stays as it was."""
    if not _is_place(target):
        return []
    name = module.segment(target)
    edit = inserted_line_before(module, statement, f"{name} = {name}.clone()")
    return [edit] if edit is not None else []


def _reads_cloned(module: Module, value: ast.expr, target: ast.expr) -> list[Edit]:
    """Copies of what the line itself reads of the tensor that it writes, so that no op saves the tensor's own memory."""
    wanted = _read(target)
    reads = [
        n
        for n in ast.walk(value)
        if isinstance(n, ast.Subscript) and ast.dump(n.value, annotate_fields=False) == wanted
    ]
    return [e for n in reads for e in called(module, n, ".clone()")]


def _called(node: ast.AST) -> tuple[ast.Call, ast.expr] | None:
    """The one call on the line that writes in place, and what it writes: ``x.mul_(y)``, ``F.relu_(x)``, ``inplace=True``."""
    found = []
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        written = _written(call)
        if written is not None:
            found.append((call, written))
    return found[0] if len(found) == 1 else None


def _written(call: ast.Call) -> ast.expr | None:
    if _inplace_keyword(call) is not None:
        return call.args[0] if call.args else None
    if not isinstance(call.func, ast.Attribute):
        return None
    name = call.func.attr
    if not name.endswith("_") or name.endswith("__") or name in NO_TWIN:
        return None
    base = call.func.value
    if isinstance(base, (ast.Name, ast.Attribute)) and ast.unparse(base).rpartition(".")[2] in NO_TENSORS:
        return None
    is_function = isinstance(base, (ast.Name, ast.Attribute)) and ast.unparse(base) in (
        "torch",
        "F",
        "torch.nn.functional",
        "nn.functional",
    )
    return (call.args[0] if call.args else None) if is_function else base


def _inplace_keyword(call: ast.Call) -> ast.keyword | None:
    return next(
        (
            k
            for k in call.keywords
            if k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True
        ),
        None,
    )


def _renamed(module: Module, call: ast.Call) -> Edit:
    keyword = _inplace_keyword(call)
    if keyword is not None:
        return replaced(module, keyword.value, "False")
    assert isinstance(call.func, ast.Attribute)
    text = module.segment(call.func)
    return replaced(module, call.func, text[:-1])


def _is_place(node: ast.expr) -> bool:
    """A variable or an attribute of one: what can be bound anew."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_fresh(node: ast.expr) -> bool:
    """The result of an expression, that no name holds."""
    return isinstance(node, (ast.Call, ast.BinOp))


def _read(target: ast.expr) -> str:
    loaded = ast.parse(ast.unparse(target), mode="eval").body
    return ast.dump(loaded, annotate_fields=False)


def _built(facts: Facts, project: Project) -> list[Construction]:
    return constructions(facts, project, str(facts["module_class"]), {}) if facts.get("module_class") else []


def _of_module(facts: Facts, project: Project, root: str) -> Fix | None:
    built = _built(facts, project)
    keywords = {
        (c.module.path, k.value.lineno, k.value.col_offset): (c, k)
        for c in built
        if (k := _inplace_keyword(c.call))
    }
    if len(keywords) != 1:
        return None
    construction, keyword = next(iter(keywords.values()))
    name = str(facts["module_class"])
    return draft(
        project,
        root,
        CAUSE,
        [replaced(construction.module, keyword.value, "False")],
        f"Build `{name}` at {construction.site} without inplace=True: it overwrites a tensor that the op before it saved.",
        f"{construction.site}: `{name}` gives a new tensor; the step needs memory for one more activation.",
        "Other modules built with inplace=True: they may write only what no op has saved.",
    )
