"""A reference model for preference training that is a second copy of what an adapter is trained on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.constants import constant
from firstcause.check.makers import call_of, given_maker, wrapped
from firstcause.check.trainers import trainer_runs
from firstcause.source.arguments import argument
from firstcause.source.frames import Value
from firstcause.source.walk import Origin

# Trainers of trl that take the model without its adapter for the reference where no other is given.
TRAINERS = tuple(f"trl.{n}Trainer" for n in ("DPO", "KTO", "OnlineDPO", "NashMD", "XPO", "BCO"))
COPIES = frozenset(
    {"copy.deepcopy", "copy.copy", "trl.create_reference_model", "trl.models.create_reference_model"}
)
# What makes a reference of its own right.
OWN = ("force_use_ref_model", "sync_ref_model", "ref_adapter_name", "model_adapter_name")


def second_copies(code: Code) -> Iterator[tuple[Call, Value]]:
    """The trainer, and the reference that it is given though its adapter can be switched off."""
    if not code.imports("trl"):
        return
    settings = {run.call.node: run.settings for run in trainer_runs(code)}
    for call in code.calls(*TRAINERS):
        config, reference, model = (
            given_maker(call, "peft_config"),
            call.argument("ref_model", 1),
            call.argument("model", 0),
        )
        if config is None or not config.name.startswith("peft.") or reference is None or model is None:
            continue
        given = settings.get(call.node)
        if any(call.may_have(n) or (given is not None and given.gives(n)) for n in OWN):
            continue
        if _is_copy(code, reference, model):
            yield call, reference


def _is_copy(code: Code, reference: Value, model: Value) -> bool:
    made = _made(code, reference)
    call = (
        call_of(code, made.module, made.node)
        if made is not None and isinstance(made.node, ast.Call)
        else None
    )
    if call is not None and call.name in COPIES and call.node.args:
        return True
    name = _checkpoint(code, reference)
    return name is not None and name == _checkpoint(code, model)


def _made(code: Code, value: Value) -> Origin | None:
    """Where an object is made at first; None where there are several places."""
    module, node = value.module, value.node
    for _ in range(6):
        found = code.origins(module, node)
        if len(found) != 1:
            return None
        inner = (
            wrapped(call_of(code, found[0].module, found[0].node))
            if isinstance(found[0].node, ast.Call)
            else None
        )
        if inner is None:
            return found[0]
        module, node = found[0].module, inner
    return None


def _checkpoint(code: Code, value: Value) -> str | None:
    """The name of the checkpoint that a model is loaded from, or the name itself."""
    made = _made(code, value)
    if made is None or made.value is None:
        return None
    if isinstance(made.node, ast.Constant):
        return made.node.value if isinstance(made.node.value, str) else None
    if not isinstance(made.node, ast.Call) or not ast.unparse(made.node.func).endswith(".from_pretrained"):
        return None
    given = argument(made.node, 0, "pretrained_model_name_or_path")
    if given is None or not given.sure or given.path:
        return None
    known = constant(code.project, made.value.at(given.node))
    if known is not None:
        return known.value if isinstance(known.value, str) else None
    # What a function is given differs from call to call; elsewhere the same words are the same name.
    return None if made.value.frame is not None else ast.unparse(given.node)
