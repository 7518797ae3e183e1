"""Dropout acts in evaluation: the model is switched, or the function is told whether it trains.

Facts:

- ``kind``: "function" where a function drops in a module that is in evaluation mode, else "module".
- ``alike``: the places of further calls of that function which drop in the same pass; optional.
- ``place``: the call that drops, or the pass through the model; ``name`` of the function or class.
- ``function``: a place whose line is the first one of the evaluating function (its decorator, if it has one).
- ``backward``: the place of the backward call.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.fix.statements import inserted_line_before
from firstcause.fix.training_mode import switched_on
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "dropout-active-at-eval"


def line(facts: Facts, project: Project) -> Site | None:
    """The call that drops; the beginning of the evaluating function where the model's mode is to blame."""
    if facts.get("kind") == "module":
        found = _evaluating(facts, project)
        if found is not None:
            return found[0].site(found[1].body[_start(found[1])])
    return named_line(facts.get("place") or {}, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``training=self.training`` for a function; ``eval()`` in the evaluation and ``train()`` before the training."""
    if facts.get("kind") == "function":
        return _told_to_the_function(facts, project, root)
    found, backward = _evaluating(facts, project), statement_of(facts.get("backward"), project)
    if found is None or backward is None:
        return None
    module, function = found
    model = _called(module, facts)
    first = function.body[_start(function)]
    on = inserted_line_before(module, first, f"{model}.eval()") if model else None
    back = switched_on(project, *backward, model or "")
    if on is None or back is None:
        return None
    # Where training switches its mode itself, it needs no second switch.
    has_own = any(
        isinstance(c.func, ast.Attribute) and c.func.attr == "train" and not c.args
        for m in project.modules
        for c in m.nodes(ast.Call)
    )
    edits: list[Edit] = [on] if has_own else [on, back[0]]
    site = module.site(first)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Call `{model}.eval()` at {site}, and `{back[2]}.train()` where training goes on.",
        f"{site}: the same batch gives the same result twice; scores from before are not comparable.",
        "Other randomness, such as sampling or augmentation.",
    )


def _told_to_the_function(facts: Facts, project: Project, root: str) -> Fix | None:
    places = [facts.get("place") or {}, *(facts.get("alike") or ())]
    found = [_told_at(place, str(facts.get("name")), project) for place in places]
    edits = [one[1] for one in found if one is not None]
    if found[0] is None or len(edits) < len(places):
        return None
    call = found[0][0]
    site = found[0][2]
    more = f", and {len(edits) - 1} more call(s) of it" if len(edits) > 1 else ""
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Tell `{call}` at {site}{more} whether the module trains: eval() does not reach a function.",
        f"{site}: nothing is dropped in evaluation; scores from before are not comparable.",
        "Other randomness, such as sampling or augmentation.",
    )


def _told_at(place: Facts, name: str, project: Project) -> tuple[str, Edit, Site] | None:
    """The name of the call at a place, and the edit that tells it whether its module trains."""
    module = module_of(place, project)
    if module is None:
        return None
    calls = [
        n
        for n in module.nodes_on(int(place["line"]))
        if isinstance(n, ast.Call) and module.segment(n.func).rpartition(".")[2] == name
    ]
    method = module.function(calls[0]) if calls else None
    if (
        len(calls) != 1
        or not isinstance(method, ast.FunctionDef)
        or [a.arg for a in method.args.args][:1] != ["self"]
    ):
        return None
    (call,) = calls
    given = next((k for k in call.keywords if k.arg == "dropout_p"), None)
    if name == "scaled_dot_product_attention":
        if given is None:
            return None
        edit = replaced(module, given.value, f"{module.segment(given.value)} if self.training else 0.0")
    elif len(call.args) > 2 or any(k.arg == "training" for k in call.keywords):
        return None
    else:
        edit = added_keyword(module, call, "training=self.training")
    return module.segment(call.func), edit, module.site(call)


def _evaluating(facts: Facts, project: Project) -> tuple[Module, ast.FunctionDef] | None:
    place = facts.get("place") or {}
    module = module_of(place, project)
    nodes = module.nodes_on(int(place["line"])) if module is not None else []
    around = [n for n in nodes if isinstance(n, ast.FunctionDef)]
    return (module, around[-1]) if module is not None and around else None


def _start(function: ast.FunctionDef) -> int:
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1
    return 1 if is_text else 0


def _called(module: Module, facts: Facts) -> str | None:
    """What the evaluation calls the model: the one name or attribute called on the line of the pass."""
    line = int(facts["place"]["line"])
    names = [
        module.segment(n.func)
        for n in module.nodes_on(line)
        if isinstance(n, ast.Call) and isinstance(n.func, (ast.Name, ast.Attribute))
    ]
    known = [
        n
        for n in names
        if n.rpartition(".")[2] in ("model", "net", "network", "classifier", "encoder", "self")
    ]
    return known[0] if known and len(set(known)) == 1 else None
