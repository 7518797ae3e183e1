"""A learning rate that is too high: the number that sets it, replaced by one that was seen to train.

Facts:

- ``rate``: the learning rate of the first step.
- ``factor``: the factor with which the same training held, such as 0.1.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.epsilons import literals
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Origin, Project
from firstcause.source.arguments import argument
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "learning-rate-too-high"
# Where the rate is the default of torch, nothing in the program says it.
KEYWORDS = ("lr", "learning_rate")
MAKERS = (
    "torch.optim.",
    "transformers.TrainingArguments",
    "transformers.Seq2SeqTrainingArguments",
    "transformers.AdamW",
)
SCHEDULES = "torch.optim.lr_scheduler."


def line(facts: Facts, project: Project) -> Site | None:
    """The number in the source that the rate comes from, else the call that makes the optimizer."""
    literal = _literal(facts, project)
    if literal is not None:
        return literal.site
    calls = _constructions(project)
    if len(calls) != 1:
        return None
    rates = _rates_of_groups(project) if _rate_of(calls[0]) is None else []
    at = rates[0] if len(rates) == 1 else calls[0]
    return at.module.site(at.node)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The literal times the factor; nothing where the code does not show one literal."""
    literal, factor = _literal(facts, project), facts.get("factor")
    if factor is None:
        return None
    if literal is None:
        return _add_rate(facts, project, root)
    if not isinstance(literal.node, ast.Constant):
        return None
    old, new = float(literal.node.value), f"{float(literal.node.value) * float(factor):.12g}"  # type: ignore[arg-type]
    return _fix(
        project,
        root,
        [replaced(literal.module, literal.node, new)],
        literal.site,
        f"{old:g}",
        new,
        float(factor),
    )


def _add_rate(facts: Facts, project: Project, root: str) -> Fix | None:
    calls = _constructions(project)
    if len(calls) != 1 or _rate_of(calls[0]) is not None or facts.get("rate") is None:
        return None
    if _rates_of_groups(project):
        # What the groups say themselves, no rate beside them changes.
        return None
    call = calls[0]
    assert isinstance(call.node, ast.Call)
    new = f"{float(facts['rate']) * float(facts['factor']):.12g}"
    site = call.module.site(call.node)
    edits = [added_keyword(call.module, call.node, f"lr={new}")]
    return _fix(
        project, root, edits, site, f"{float(facts['rate']):g}, the default,", new, float(facts["factor"])
    )


def _fix(
    project: Project, root: str, edits: list[Edit], site: Site, old: str, new: str, factor: float
) -> Fix | None:
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Lower the learning rate at {site} from {old} to {new}: from the same weights and on the same batches "
        f"the training held at {factor:g} times the rate and ran away at the rate itself.",
        f"{site}: every update is {factor:g} times as long; a schedule keeps its shape.",
        "The rate is one that trains, not the best one. It does not change the scale of inputs, targets or initial weights.",
    )


def _literal(facts: Facts, project: Project) -> Origin | None:
    """The one literal behind the rate of the optimizer whose rate was recorded."""
    found: dict[int, Origin] = {}
    rates = [v for v in map(_rate_of, _constructions(project)) if v is not None]
    recorded = facts.get("rate")
    same = [v for v in rates if _close(number(project, v), recorded)]
    for value in same or rates:
        numbers = [o for o, _ in literals(project, value)]
        for origin in numbers if len(numbers) == 1 else []:
            found.setdefault(id(origin.node), origin)
    return next(iter(found.values())) if len(found) == 1 else None


def _close(written: float | None, recorded: object) -> bool:
    if written is None or not isinstance(recorded, (int, float)):
        return False
    # The journal holds float32.
    return abs(written - recorded) <= 1e-5 * abs(written)


def _constructions(project: Project) -> list[Value]:
    """The calls that make optimizers, or the arguments of a library's trainer."""
    return [
        Value(module, node)
        for module in project.modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and _makes_optimizer(library_name(new_walk(project), Value(module, node)) or "")
    ]


def _rates_of_groups(project: Project) -> list[Value]:
    """The rates in dictionaries with the keys of a parameter group, whoever gets them."""
    found = []
    for module in project.modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Dict) or not all(isinstance(k, ast.Constant) for k in node.keys):
                continue
            group = {
                k.value: v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)
            }
            found += [Value(module, group["lr"])] if {"params", "lr"} <= group.keys() else []
    return found


def _makes_optimizer(name: str) -> bool:
    last = name.rpartition(".")[2]
    # TRL names the arguments of each trainer a config of its own: DPOConfig.
    is_maker = name.startswith(MAKERS) or (name.startswith("trl.") and last.endswith("Config"))
    return is_maker and not name.startswith(SCHEDULES) and last[:1].isupper()


def _rate_of(call: Value) -> Value | None:
    assert isinstance(call.node, ast.Call)
    for keyword in KEYWORDS:
        given = argument(call.node, 1 if keyword == "lr" else None, keyword)
        if given is not None:
            return call.at(given.node, given.path)
    return None
