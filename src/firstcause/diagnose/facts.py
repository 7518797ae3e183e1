"""What the replay measured, in the words of ``fix``: the facts that a line to fix and a patch are built from."""

from __future__ import annotations

import os
from typing import Any

from firstcause.specialists.debugging_techniques.residual_shape_mismatch import tensors_of
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.module_design_patterns.flatten_linear_mismatch import measure


def facts_for(cause: str, examination: Examination) -> Facts:
    """The facts of one cause; each key is described in the cause's module in ``fix/patches``."""
    return {
        "log-of-zero": _operation,
        "division-by-zero": _division,
        "sqrt-backward-at-zero": _operation,
        "nan-in-data": _data,
        "flatten-linear-mismatch": _linear,
        "residual-shape-mismatch": _residual,
        "embedding-index-out-of-range": _embedding,
        "target-out-of-range": _target,
    }[cause](examination)


def _place(examination: Examination, place: Facts | None) -> Facts:
    if place is None:
        return {}
    keys = ("line", "column", "end_line", "end_column")
    path = os.path.abspath(os.path.join(examination.run.folder, place["file"]))
    return {"file": path} | {k: place[k] for k in keys if k in place}


def _operation(examination: Examination) -> Facts:
    root = examination.root or {}
    operand = next((o for o in root.get("operands") or [] if isinstance(o, dict)), {})
    return _place(examination, root.get("site")) | {"dtype": operand.get("dtype")}


def _division(examination: Examination) -> Facts:
    root = examination.root or {}
    operands = root.get("operands") or []
    binary = len(operands) > 1 and root.get("op") not in ("pow", "rsqrt", "reciprocal")
    denominator = operands[1] if binary else (operands or [None])[0]
    facts = _place(examination, root.get("site"))
    if not isinstance(denominator, dict):
        return facts | {"is_tensor": False}
    values = root.get("operands_at") or [None]
    numerator = (
        {"numerator_at_zero": abs(float(values[0]))} if len(values) > 1 and values[0] is not None else {}
    )
    return (
        facts
        | {"is_tensor": True, "dtype": denominator["dtype"], "denominator_min": denominator.get("min")}
        | numerator
    )


def _data(examination: Examination) -> Facts:
    root = examination.root or {}
    name = (root.get("origin") or {}).get("input")
    return _place(examination, root.get("site")) | {
        "name": name or "",
        "whole_columns": root.get("whole_columns", False),
    }


def _linear(examination: Examination) -> Facts:
    measured = measure(examination) or {}
    refused = examination.refused or {}
    settings = (refused.get("modules") or [{"settings": {}}])[-1]["settings"]
    shape = measured.get("before_flatten")
    facts = _place(examination, refused.get("site")) | _owner(examination, measured.get("module"))
    facts |= {"in_features": measured.get("in_features"), "actual_features": measured.get("features")}
    facts |= {"out_features": settings["out_features"]} if "out_features" in settings else {}
    # The first axis is the batch, as the shape of one sample is asked for.
    return facts | ({"shape": tuple(shape[1:])} if shape else {})


def _residual(examination: Examination) -> Facts:
    refused = examination.refused or {}
    left, right = (tuple(o["shape"]) for o in tensors_of(refused))
    return _place(examination, refused.get("site")) | {"left_shape": left, "right_shape": right}


def _embedding(examination: Examination) -> Facts:
    refused = examination.refused or {}
    index, running = refused.get("index") or {}, refused.get("modules") or []
    facts = _place(examination, refused.get("site")) | _owner(
        examination, running[-1]["path"] if running else None
    )
    if running and "embedding_dim" in running[-1]["settings"]:
        facts |= {"embedding_dim": running[-1]["settings"]["embedding_dim"]}
    return facts | {
        "num_embeddings": index.get("rows"),
        "ids_min": index.get("min"),
        "ids_max": index.get("max"),
        "offenders": index.get("outside"),
        "ids_count": index.get("total"),
    }


def _target(examination: Examination) -> Facts:
    refused = examination.refused or {}
    index = refused.get("index") or {}
    facts = _place(examination, refused.get("site")) | {"n_classes": index.get("rows")}
    facts |= {
        "target_min": index.get("min"),
        "target_max": index.get("max"),
        "targets_count": index.get("total"),
    }
    logits = (tensors_of(refused) or [{}])[0]
    for _ in range(8):
        # From the loss back to the module that made the scores.
        op = examination.op(logits.get("made_by"))
        if op is None or op.get("module") or not op["inputs"]:
            break
        logits = op["inputs"][0]
    op = examination.op(logits.get("made_by"))
    return facts | _owner(examination, op.get("module") if op else None)


def _owner(examination: Examination, path: str | None) -> dict[str, Any]:
    """The outermost class of the program around a module, and the module's path beneath its objects."""
    owners = examination.trace.get("owners") or {}
    around = [p for p in owners if path and path.startswith(p + ".")]
    if not path or not around:
        return {}
    outermost = min(around, key=len)
    return {"class_name": owners[outermost], "attribute_path": path[len(outermost) + 1 :]}
