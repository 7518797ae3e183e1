"""A sample that is smaller than its cut-out: it is padded to that size before it is cut.

Facts:

- ``file``, ``line``: the line that asks for more than there is.
- ``short``: ``holder`` the name of what is too short, ``axis`` and ``of`` which of how many dimensions, ``module`` the library
  of its type, ``wanted_text`` the size asked for as the program writes it.
"""

from __future__ import annotations

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.scopes import named, statement_at
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "sample-shorter-than-crop"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that asks for more than there is."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Padding before the cut; None where the program names neither what is cut nor the size."""
    module, short = module_of(facts, project), facts.get("short")
    if module is None or not short or not short.get("wanted_text"):
        return None
    at, holder = statement_at(module, facts), str(short.get("holder") or "")
    if at is None or not holder.isidentifier():
        return None
    text = _padded(module, holder, short)
    edit = inserted_line_before(module, at, text) if text else None
    if edit is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Pad `{holder}` with zeros to `{short['wanted_text']}` before it is cut at {module.site(at)}.",
        "Samples that are too short are longer by zeros at their end; all others stay as they are.",
        "Whether a sample that is mostly padding should be trained on: count them, and leave out what is too short to tell.",
    )


def _padded(module: Module, name: str, short: Facts) -> str | None:
    axis, wanted = int(short["axis"]), str(short["wanted_text"])
    dimensions = int(short["of"])
    missing = f"max(0, {wanted} - {name}.shape[{axis}])"
    if short["module"] == "torch":
        torch = named(module, "torch")
        pads = ", ".join(["0, 0"] * (dimensions - 1 - axis) + [f"0, {missing}"])
        return f"{name} = {torch}.nn.functional.pad({name}, ({pads}))" if torch else None
    if short["module"] == "numpy":
        numpy = named(module, "numpy")
        pads = ", ".join(f"(0, {missing})" if d == axis else "(0, 0)" for d in range(dimensions))
        return f"{name} = {numpy}.pad({name}, [{pads}])" if numpy else None
    if short["module"] == "builtins":
        return f"{name} = {name} + type({name})([0]) * max(0, {wanted} - len({name}))"
    return None
