"""Calls that every rank of a group has to make: torch.distributed, accelerate, Fabric, DeepSpeed, a trainer's evaluation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.catalog.toml import check_table
from firstcause.check.code import Call, Code
from firstcause.check.makers import maker
from firstcause.check.trainers import OF_TRL, TRAINERS
from firstcause.source.callsites import last_name

_TABLE = check_table("ranks")
NAMED = frozenset(
    [f"torch.distributed.{w}{n}" for n in _TABLE["collective"].split() for w in ("", "distributed_c10d.")]
    + [f"accelerate.utils.{w}{n}" for n in _TABLE["gathering"].split() for w in ("", "operations.", "other.")]
    + [
        "torch.distributed.checkpoint.save",
        "torch.distributed.checkpoint.state_dict_saver.save",
    ]
)
# Methods by what they are called on: the words of its name, or the calls that make it.
_METHODS = {
    "gather": "accelerator",
    "reduce": "accelerator",
    "gather_for_metrics": "accelerator",
    "wait_for_everyone": "accelerator",
    "pad_across_processes": "accelerator",
    "all_gather": "fabric",
    "all_reduce": "fabric",
    "broadcast": "fabric",
    "barrier": "fabric",
}
_LIBRARIES = {"accelerator": "accelerate", "fabric": "lightning"}
# Methods that nothing else has.
_UNIQUE = ("gather_for_metrics", "wait_for_everyone")
# DeepSpeed's engine: each rank writes or reads its own part, and waits for the others.
_OF_ENGINES = ("save_checkpoint", "load_checkpoint", "save_16bit_model", "backward", "step")
_OF_TRAINERS = ("evaluate", "predict", "train")
# What says that only a part of the ranks is meant, or none but this one.
_PART = ("group", "process_group", "no_dist")


def collectives(code: Code) -> list[Call]:
    """Every call that all ranks have to make; those of a group of their own, which may be some of them, left out."""
    known: list[Call] | None = code.project.memory.get("collectives")
    if known is None:
        found = [*code.calls(*NAMED), *_methods(code)] if _several(code) else []
        known = code.project.memory["collectives"] = [c for c in found if not _of_part(c)]
    return known


def _several(code: Code) -> bool:
    libraries = ("torch.distributed", "accelerate", "deepspeed", "lightning", "transformers", "trl")
    return any(code.imports(library) for library in libraries)


def _methods(code: Code) -> Iterator[Call]:
    for name, owner in _METHODS.items():
        for call in code.methods(name) if code.imports(_LIBRARIES[owner]) else ():
            if call.receiver is not None and (name in _UNIQUE or _is_owner(code, call, owner)):
                yield call
    for call in code.methods(*_OF_ENGINES) if code.imports("deepspeed") else ():
        made = maker(code, call.module, call.receiver) if call.receiver is not None else None
        if made is not None and made.name == "deepspeed.initialize":
            yield call
    for call in code.methods(*_OF_TRAINERS) if code.imports("transformers") or code.imports("trl") else ():
        made = maker(code, call.module, call.receiver) if call.receiver is not None else None
        if made is not None and made.name in (*TRAINERS, *OF_TRL):
            yield call


def _is_owner(code: Code, call: Call, owner: str) -> bool:
    assert call.receiver is not None
    if owner in last_name(call.receiver).lower():
        return True
    made = maker(code, call.module, call.receiver)
    return made is not None and made.name.rpartition(".")[2].lower() == owner


def _of_part(call: Call) -> bool:
    return any(
        k.arg in _PART and not (isinstance(k.value, ast.Constant) and k.value.value is None)
        for k in call.node.keywords
    )
