"""dtype-double-vs-float: a float64 tensor meets float32 weights in a call that takes only one of the two."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.provenance import first_of, tell
from firstcause.specialists.refused_calls import dtypes_of, operand, passing, refused_call, said, settle_call
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "dtype-double-vs-float"


def propose(examination: Examination) -> bool:
    call = refused_call(examination)
    return call is not None and any(
        o.get("dtype") == "float64" and not o.get("array") for o in call["operands"]
    )


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    call = refused_call(examination)
    if call is None:
        return nothing_refused(hypothesis, examination)
    dtypes = dtypes_of(call)
    number = double_operand(examination)
    if number is None:
        text = f"with its float64 operands as float32 it is refused too ({said(call)})"
        return settle_call(hypothesis, examination, False, text, dtypes)
    given = operand(call, number)
    if given.get("parameter") and not _others_are_single(call):
        missing = "whether the model is meant in float64, or the data in float32: the record shows no other weights beside them"
        return inconclusive(CAUSE, missing)
    birth = born(examination)
    others = ", ".join(sorted({str(d) for d in dtypes.values() if d != "float64"})) or "float32"
    text = (
        f"operand {number} of shape {given['shape']} is float64, the others are {others}; as float32 it passes. "
        f"The float64 is first that of {tell(examination, birth)}"
    )
    if "recalled" in examination.failure and birth["kind"] == "data":
        # The call alone was made once more: what made its arguments lies before it.
        return inconclusive(
            CAUSE, f"{text}, and what made it was not replayed: `firstcause diagnose --yes` does it"
        )
    return settle_call(hypothesis, examination, True, text, dtypes, call.get("site"))


def _others_are_single(call: Facts) -> bool:
    """Whether other weights, which came before the refused call, are float32: the model as a whole is not of float64."""
    before = [i for c in call["calls"].values() for i in c["inputs"]]
    return any(i.get("parameter") and i.get("dtype") == "float32" for i in before)


def double_operand(examination: Examination) -> int | None:
    """The float64 operand with which as float32 the call passes, or the first of several that must change together."""
    alone = passing(examination, "dtype", **{"from": "float64", "to": "float32"})
    if alone:
        return int(alone[0]["operand"])
    if not passing(examination, "all-double"):
        return None
    operands = (refused_call(examination) or {})["operands"]
    return next(k for k, o in enumerate(operands) if o.get("dtype") == "float64")


def born(examination: Examination) -> Facts:
    given = operand(refused_call(examination) or {}, double_operand(examination) or 0)
    return first_of(examination, given, lambda x: x.get("dtype") == "float64")


def _all_states(examination: Examination) -> list[tuple[str, str]]:
    """Class and name of every float64 parameter or buffer behind the refused call."""
    call = refused_call(examination) or {}
    given = [i for c in call["calls"].values() for i in c["inputs"]] + call["operands"]
    paths = sorted({i["parameter"] for i in given if i.get("parameter") and i.get("dtype") == "float64"})
    owners = examination.trace.get("owners") or {}
    return [(owners.get(p.rpartition(".")[0], ""), p.rpartition(".")[2]) for p in paths]


def _holders(examination: Examination, path: str) -> list[tuple[str, str]]:
    """The class and attribute by which each module on a parameter's path is held, the innermost first."""
    owners = examination.trace.get("owners") or {}
    parts = path.split(".")[:-1]
    return [(owners.get(".".join(parts[:at]), ""), parts[at]) for at in reversed(range(len(parts)))]


def facts(examination: Examination) -> Facts:
    call = refused_call(examination) or {}
    birth = born(examination)
    if birth["kind"] == "state" and _all_states(examination):
        birth |= {"names": _all_states(examination)}
    if birth["kind"] == "state" and birth.get("path"):
        birth |= {"holders": _holders(examination, str(birth["path"]))}
    return examination.place(call.get("site")) | {"birth": birth, "frames": call.get("stack") or []}
