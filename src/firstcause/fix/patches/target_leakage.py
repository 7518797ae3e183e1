"""The target among the inputs: it is replaced by zeros, the mask of what comes later is added, or what hides it is kept.

Facts:

- ``column``: True where a column of the input is the target; its place is found in the code.
- ``earlier``: True where the statement at ``file`` and ``line`` reads a series at the place of the target; ``index`` is the
  line and column of that place.
- ``file``, ``line``: else the attention without a mask; ``function`` the name of the call.
- ``hidden_by``: or the name of the call there whose result, an input without the answers, is not kept.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.callsites import last_name
from firstcause.source.leaks import leak
from firstcause.source.own_values import series

CAUSE = "target-leakage"
ATTENTION = "scaled_dot_product_attention"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that puts the target among the inputs, or lets a position see what comes later."""
    place = leak(project) if facts.get("column") else None
    return place.module.site(place.node) if place is not None else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Zeros in place of the target, a causal mask; None where the code does not show where."""
    if facts.get("hidden_by"):
        return _kept(facts, project, root)
    if facts.get("earlier"):
        return _read_earlier(facts, project, root)
    if not facts.get("column"):
        return _masked(facts, project, root)
    place = leak(project)
    if place is None:
        return None
    module, node = place.module, place.node
    site, text = module.site(node), module.segment(node)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, node, f"0 * ({text})")],
        f"Take the target out of the input at {site}: `{text}` becomes zeros.",
        f"{site}: the column stays, so that sizes fit, and says nothing; scores fall to what the other columns allow.",
        "The column itself, which can go once sizes are changed, and decisions that were taken on the old scores.",
    )


def _kept(facts: Facts, project: Project, root: str) -> Fix | None:
    """``x = x.masked_fill(…)`` in place of the call alone; None where the line keeps its result under another name."""
    module = module_of(facts, project)
    calls = [
        n.value
        for n in (module.nodes_on(int(facts["line"])) if module is not None else [])
        if isinstance(n, ast.Expr)
        and isinstance(n.value, ast.Call)
        and isinstance(n.value.func, ast.Attribute)
        and n.value.func.attr == facts["hidden_by"]
        and isinstance(n.value.func.value, (ast.Name, ast.Attribute, ast.Subscript))
        and last_name(n.value.func.value) not in ("torch", "F", "functional")
    ]
    if module is None or len(calls) != 1:
        return None
    call = calls[0]
    assert isinstance(call.func, ast.Attribute)
    owner, site = module.segment(call.func.value), module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, f"{owner} = {module.segment(call)}")],
        f"Keep what {call.func.attr} returns at {site}: it leaves {owner} as it is.",
        f"{site}: the model no longer sees what it is to find; the loss rises to what can be found from the rest.",
        "Weights that were trained on inputs that held the answers.",
    )


def _read_earlier(facts: Facts, project: Project, root: str) -> Fix | None:
    module = module_of(facts, project)
    found = [
        r
        for one in series(project)
        for r in one.readings
        if one.module is module and [r.index.lineno, r.index.col_offset] == facts["index"]
    ]
    if module is None or len(found) != 1:
        return None
    reading = found[0]
    site, text = module.site(reading.statement), module.segment(reading.index)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, reading.index, reading.earlier)],
        f"Read at `{reading.earlier}` instead of `{text}` at {site}: what is read there holds the value to be predicted.",
        f"{site}: each row holds what is known before its target; errors rise to what can be predicted, and are true.",
        "Decisions that were taken on the old scores, and the best state that was kept by them.",
    )


def _masked(facts: Facts, project: Project, root: str) -> Fix | None:
    module = module_of(facts, project)
    calls = [
        n
        for n in (module.nodes_on(int(facts["line"])) if module is not None else [])
        if isinstance(n, ast.Call) and getattr(n.func, "attr", getattr(n.func, "id", "")) == ATTENTION
    ]
    if module is None or len(calls) != 1 or facts.get("function") != ATTENTION:
        return None
    own = [k for k in calls[0].keywords if k.arg == "is_causal"]
    if len(calls[0].args) > 3 or any(k.arg == "attn_mask" for k in calls[0].keywords):
        return None
    edit = (
        replaced(module, own[0].value, "True") if own else added_keyword(module, calls[0], "is_causal=True")
    )
    site = module.site(calls[0])
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Mask what comes later at {site}: positions see the token that they are compared with.",
        f"{site}: each position sees itself and what stands before it; the loss rises to what can be predicted.",
        "Padding, which needs a mask of its own.",
    )
