"""A file that forked workers share: each process opens it for itself at its first use.

Facts:

- ``file``, ``line`` and the columns: where it is opened.
- ``held``: ``path`` of attributes from the dataset to it, ``owner`` the class of the last of them.
"""

from __future__ import annotations

import ast

from firstcause.fix.additions import imported, method_before
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import statement_at
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "file-handle-shared-by-forked-workers"


def line(facts: Facts, project: Project) -> Site | None:
    """Where it is opened."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A property that opens the file once a process; None where the constructor does not open it into an attribute."""
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    attribute = _attribute(statement)
    if module is None or not isinstance(statement, ast.Assign) or attribute is None:
        return None
    method, owner = module.function(statement), module.method_class(statement)
    if not isinstance(method, ast.FunctionDef) or owner is None or method.name != "__init__":
        return None
    if _is_set_elsewhere(owner, statement, attribute):
        return None
    opening = module.segment(statement.value)
    getter = f"""
        @property
        def {attribute}(self):
            process = os.getpid()
            if process not in self._{attribute}_of:
                self._{attribute}_of[process] = self._open_{attribute}()
            return self._{attribute}_of[process]
    """
    indent = " " * statement.col_offset
    lazy = f"self._{attribute}_of = {{}}\n{indent}self._open_{attribute} = lambda: {opening}"
    edits = [
        *imported(module, "os"),
        method_before(module, method, getter),
        replaced(module, statement, lazy),
    ]
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Open `self.{attribute}` once a process, at its first use, instead of at {site}.",
        "Each worker has a file and a position of its own; the first sample of a worker takes a little longer.",
        "Files that are open in this way stay so until their process ends.",
    )


def _attribute(statement: ast.stmt | None) -> str | None:
    """``x`` of ``self.x = …``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    own = (
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    )
    return target.attr if own and isinstance(target, ast.Attribute) else None


def _is_set_elsewhere(owner: ast.ClassDef, statement: ast.Assign, attribute: str) -> bool:
    """Whether the attribute is written in another place, which a property would refuse."""
    own = set(map(id, ast.walk(statement)))
    return any(
        isinstance(n, ast.Attribute)
        and n.attr == attribute
        and not isinstance(n.ctx, ast.Load)
        and id(n) not in own
        for n in ast.walk(owner)
    )
