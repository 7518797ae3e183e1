"""What the page shows of a failing step, as JSON-ready data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firstcause.record.folder import relative
from firstcause.view.module_tree import module_tree

_BIRTHS = 12


def failure_to_json(facts: Mapping[str, Any], cwd: str, parameters: Sequence[str]) -> dict[str, Any]:
    """What was not finite, the unit that was run again, the ops that made bad values, their modules and their rows."""
    replay = facts.get("replay") or {}
    trace = replay.get("trace") or {}
    births = [b for b in trace.get("births") or () if isinstance(b, Mapping)]
    unit = facts.get("unit") or {}
    bad = list(map(str, facts.get("bad_gradients") or ()))
    shown = _causes(births)[:_BIRTHS]
    return {
        "kind": facts.get("kind"),
        "name": facts.get("name"),
        "step": facts.get("step"),
        "message": str(facts.get("message", "")),
        "gradients": facts.get("gradients"),
        "bad_gradients": bad,
        "bad_parameters": list(facts.get("bad_parameters") or ()),
        "unit": {
            "file": _near(unit.get("file"), cwd),
            "line": unit.get("line"),
            "function": unit.get("function"),
        }
        if unit
        else None,
        "replay": replay.get("status") or facts.get("not_replayable") or "",
        "exact": replay.get("exact"),
        "ops": trace.get("ops"),
        "births": [_birth(birth, cwd) for birth in shown],
        "left_births": max(0, len(births) - len(shown)),
        "tree": module_tree(parameters, shown, bad, trace.get("activations") or {}) if births else [],
        "batch_rows": list(trace.get("batch_rows") or ()),
    }


def _causes(births: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The births without infinities that are written as a mask, unless a bad value comes of one."""
    own = [b for b in births if not b.get("constant")]
    needed = {number for b in own for number in b.get("ancestors") or ()}
    return [b for number, b in enumerate(births) if not b.get("constant") or number in needed] or list(births)


def _near(path: Any, cwd: str) -> str | None:
    return relative(path, cwd) if isinstance(path, str) else None


def _birth(birth: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    site = birth.get("site") or {}
    return {
        "op": birth.get("op"),
        "number": birth.get("number"),
        "kind": _sign(birth) + str(birth.get("kind", "")),
        "phase": birth.get("phase"),
        "module": birth.get("module"),
        "file": _near(site.get("file"), cwd),
        "line": site.get("line"),
        "text": site.get("text", ""),
        "element": birth.get("element"),
        "rows": birth.get("rows"),
        "first_rows": list(birth.get("first_rows") or ()),
        "from": birth.get("operands_at"),
        "operands": list(birth.get("operands") or ()),
        "output": birth.get("output"),
    }


def _sign(birth: Mapping[str, Any]) -> str:
    signs = birth.get("signs") or ()
    return "±" if len(signs) > 1 else "".join(signs)
