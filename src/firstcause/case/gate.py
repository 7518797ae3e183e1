"""Gate 4: what must be known and answered before a patch may touch the user's files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

from firstcause.case.classes import class_of, has_patch
from firstcause.errors import GateError
from firstcause.fix.patch import parse
from firstcause.schema import SECTIONS, Diagnosis, to_plain

# Letters and digits that nobody takes for one another.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"


def diagnosis_hash(diagnosis: Diagnosis) -> str:
    """The sha256 of the diagnosis in canonical form: what an approval is bound to."""
    plain = json.dumps(_stated(diagnosis), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(plain.encode("ascii")).hexdigest()


def _stated(value: Any) -> Any:
    """The plain form without the fields at their defaults: one that is added later changes no hash of before."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        stated = {}
        for field in dataclasses.fields(value):
            own = getattr(value, field.name)
            made = (
                field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
            )
            if made is dataclasses.MISSING or own != made:
                stated[field.name] = _stated(own)
        return stated
    if isinstance(value, (list, tuple)):
        return [_stated(one) for one in value]
    return to_plain(value)


def diff_hash(diagnosis: Diagnosis) -> str:
    """The sha256 of the diagnosis's diff, empty where it proposes none."""
    diff = diagnosis.fix.diff if diagnosis.fix else ""
    return hashlib.sha256(diff.encode("utf-8", "surrogatepass")).hexdigest()


def approval_code(diagnosis: Diagnosis, nonce: str) -> str:
    """Six characters to type back; they differ for every diagnosis, diff and showing."""
    seed = f"{diagnosis_hash(diagnosis)}:{diff_hash(diagnosis)}:{nonce}"
    number = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big")
    characters = []
    for _ in range(6):
        number, index = divmod(number, len(_ALPHABET))
        characters.append(_ALPHABET[index])
    return "".join(characters)


def require_ready(diagnosis: Diagnosis | None) -> Diagnosis:
    """The diagnosis, if it may be approved: established, six sections filled, a diff that can be read.

    A design or an environment may be set right by hand: there the section Proposed Fix stands for the diff.
    Raises ``GateError`` naming what is missing.
    """
    if diagnosis is None or diagnosis.status != "established":
        missing = f": {diagnosis.missing}" if diagnosis and diagnosis.missing else ""
        hint = "get that evidence, then: firstcause diagnose"
        raise GateError("cause-not-established", f"no cause is established yet{missing}", hint)
    empty = [section for section in SECTIONS if not diagnosis.sections.get(section, "").strip()]
    if empty:
        raise GateError("sections-missing", f"the diagnosis lacks {', '.join(empty)}", "firstcause diagnose")
    if not has_patch(diagnosis):
        if class_of(diagnosis) == "code":
            message = f"no patch is proposed for {diagnosis.cause}"
            raise GateError("fix-missing", message, "change the code by hand")
        return diagnosis
    assert diagnosis.fix is not None
    parse(diagnosis.fix.diff)
    return diagnosis
