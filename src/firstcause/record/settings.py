"""``[tool.firstcause]`` in pyproject.toml: how much is kept, and what is done at a failure; the command line comes first."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from firstcause.errors import InputError
from firstcause.pyproject import nearest_table

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
ON_NAN = ("continue", "stop", "pause")


@dataclass(frozen=True)
class Settings:
    """Runs and bytes that are kept beneath .firstcause/runs, bytes of one snapshot, and what a run keeps and does."""

    keep_runs: int = 100
    keep_size: int = 20 * 10**9
    snapshot_size: int = 2 * 10**9
    no_data: bool = False
    on_nan: str = "continue"


def size(text: str) -> int:
    """A size such as 500MB, 20GB or 1024 in bytes; raises ``ValueError``."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match[2].lower() not in UNITS:
        raise ValueError(f"{text!r} is no size such as 500MB or 20GB")
    return int(float(match[1]) * UNITS[match[2].lower()])


def read(cwd: str) -> Settings:
    """The settings for a folder, from the nearest pyproject.toml at or above it that has them.

    Raises ``InputError`` for a file that cannot be read and for a setting that is none.
    """
    found = nearest_table(cwd, "firstcause")
    return _settings(*found) if found is not None else Settings()


def _settings(table: dict[str, Any], path: str) -> Settings:
    result = Settings()
    for name, given in table.items():
        if name == "check":
            # Another room's: read by it, and no setting of a run.
            continue
        field = name.replace("-", "_")
        if field not in Settings.__dataclass_fields__ or "_" in name:
            known = ", ".join(f.replace("_", "-") for f in Settings.__dataclass_fields__)
            raise InputError(
                "setting-invalid", f"{path} sets {name!r}, which is none of {known}", "correct it"
            )
        result = replace(result, **{field: _value(field, given, path)})
    return result


def _value(field: str, given: Any, path: str) -> Any:
    name = field.replace("_", "-")
    if field == "no_data" and isinstance(given, bool):
        return given
    if field == "on_nan" and given in ON_NAN:
        return given
    if field == "keep_runs" and type(given) is int and given >= 1:
        return given
    if field.endswith("_size"):
        try:
            return size(str(given))
        except ValueError as error:
            raise InputError("setting-invalid", f"{path}: {name}: {error}", 'write "20GB"') from error
    wanted = {"no_data": "true or false", "on_nan": f"one of {', '.join(ON_NAN)}"}.get(
        field, "a number from 1"
    )
    raise InputError("setting-invalid", f"{path}: {name} is {given!r}, and must be {wanted}", "correct it")
