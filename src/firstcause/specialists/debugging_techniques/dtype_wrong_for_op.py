"""dtype-wrong-for-op: a call is given a dtype that it does not take: labels as floats, a bool in arithmetic."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refused_calls import (
    behind,
    broadcast,
    dtypes_of,
    operand,
    passing,
    refused_call,
    said,
    settle_call,
    squeezed,
    trials,
)
from firstcause.specialists.verdicts import inconclusive, nothing_refused

CAUSE = "dtype-wrong-for-op"
# Tensor's methods that change the dtype and nothing else.
CASTS = frozenset({"float", "double", "half", "bfloat16", "long", "int", "bool"})
# What hands all of the values on, or sums of them: a part of a table is cast without the rest.
KEEPING = frozenset(
    {
        "sum", "cat", "concat", "stack", "view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "t",
        "expand", "repeat", "clone", "detach", "contiguous", "cpu", "cumsum", "amax", "amin",
    }
)  # fmt: skip
MOST_BEHIND = 20
# What a message about a dtype says, in all of its forms.
WORDS = (
    "dtype",
    "scalar type",
    "bool",
    "Long",
    "long",
    "Double",
    "Float",
    "Half",
    "Byte",
    "must be the same",
    "type",
)


def propose(examination: Examination) -> bool:
    call = refused_call(examination)
    return call is not None and bool(trials(examination, "dtype")) and any(w in call["error"] for w in WORDS)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    call = refused_call(examination)
    if call is None:
        return nothing_refused(hypothesis, examination)
    dtypes = dtypes_of(call)
    found = wrong(examination)
    if found is None:
        text = f"no other dtype of one operand lets it pass ({said(call)})"
        return settle_call(hypothesis, examination, False, text, dtypes)
    if found["from"] == "float64" and passing(examination, "all-double"):
        text = f"operand {found['operand']} is float64 where float32 is meant: no other kind of number is asked for"
        return settle_call(hypothesis, examination, False, text, dtypes)
    if squeezed(examination) or broadcast(examination):
        return inconclusive(
            hypothesis.cause, "a cast lets the call pass, but so does another shape of an operand"
        )
    role = operand(call, found["operand"]).get("role") or f"operand {found['operand']}"
    text = f"`{role}` is {found['from']}; as {found['to']} the call passes"
    cast = _cast(examination, found)
    if cast is not None:
        text += f". It is {found['from']} since `{cast['function']}` at {examination.site(cast['site'])}"
    return settle_call(
        hypothesis, examination, True, text, dtypes, cast["site"] if cast is not None else None
    )


def _cast(examination: Examination, found: Facts) -> Facts | None:
    """The call that casts to the dtype that is wrong, with only calls behind it that keep what the values are."""
    given = operand(refused_call(examination) or {}, found["operand"])
    for _ in range(MOST_BEHIND):
        made = behind(examination, given.get("made_by"))
        if made is None:
            return None
        if made["function"] in CASTS:
            # Counts that were made floats are counts still; of what was a float before, fractions would go.
            whole = str((made["inputs"] or [{}])[0].get("dtype")).startswith(("bool", "int", "uint"))
            return made if whole and made.get("site") and made.get("dtype") == found["from"] else None
        if made["function"] not in KEEPING or not made["inputs"]:
            return None
        given = made["inputs"][0]
    return None


def wrong(examination: Examination) -> Facts | None:
    """The one operand that another dtype lets pass, and the first such dtype: indices before floats before bool."""
    found = passing(examination, "dtype")
    if not found or len({t["operand"] for t in found}) > 1:
        return None
    given = str(found[0]["from"])
    order = (
        ["float32", "int64", "bool"] if given.startswith(("int", "uint", "bool", "bfloat", "float16")) else []
    )
    order = order or ["int64", "float32", "bool"]
    return min(found, key=lambda t: order.index(t["to"]))


def facts(examination: Examination) -> Facts:
    call = refused_call(examination) or {}
    found = wrong(examination) or {}
    given = operand(call, found.get("operand", 0))
    bound = given.get("bound") or {}
    result = examination.place(call.get("site")) | {
        "function": call.get("function"),
        "operand": found.get("operand"),
    }
    result |= {
        "from": found.get("from"),
        "to": found.get("to"),
        "role": given.get("role"),
        "text": given.get("text"),
    }
    cast = _cast(examination, found) if found else None
    if cast is not None:
        result |= {"cast": examination.place(cast["site"]) | {"function": cast["function"]}}
    place = examination.place({k: bound[k] for k in ("file", "line")}) if bound else {}
    return result | {"bound": place | {"name": bound.get("text_there")}}
