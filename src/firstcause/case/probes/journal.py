"""Print the recorded losses and gradient norms behind a piece of evidence again, from the run's journal.

Needs Python alone. Ends with 0 where the figures are those of the evidence, with 1 where they are not.
"""

# ruff: noqa: T201 - a script of its own, copied into a case
from __future__ import annotations

import glob
import json
import math
import os
import struct
import sys
import zlib
from typing import Any

HEADER = struct.Struct("<2sBBII")


def rows(path: str) -> list[dict[str, float]]:
    """The rows of one journal: frames of a header, a checked payload; float32 values under columns of a number."""
    with open(path, "rb") as file:
        data = file.read()
    result: list[dict[str, float]] = []
    schemas: dict[int, list[str]] = {}
    at = 0
    while at + HEADER.size <= len(data):
        magic, kind, number, length, check = HEADER.unpack_from(data, at)
        payload = data[at + HEADER.size : at + HEADER.size + length]
        if magic != b"FC" or len(payload) < length or zlib.crc32(payload, kind | number << 8) != check:
            break
        if kind == 1:
            schemas[number] = json.loads(payload)
        elif kind == 2:
            columns = schemas[number]
            values = struct.unpack(f"<{len(columns)}f", payload[8:])
            result.append(
                {"step": struct.unpack_from("<q", payload)[0], **dict(zip(columns, values, strict=True))}
            )
        at += HEADER.size + length
    return result


def told(name: str, values: list[float]) -> str:
    """One line on a column: its ends and its range."""
    finite = [v for v in values if math.isfinite(v)]
    span = f", between {min(finite):.3g} and {max(finite):.3g}" if finite else ""
    return f"{name}: from {values[0]:.3g} to {values[-1]:.3g} in {len(values)} steps{span}"


def main() -> int:
    here = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(here, encoding="utf-8") as file:
        probe: dict[str, Any] = json.load(file)
    run = os.path.join(os.path.dirname(here), probe["run"])
    found = max(map(rows, glob.glob(os.path.join(glob.escape(run), "*.journal"))), key=len, default=[])
    found = [r for r in found if probe["step"] is None or r["step"] < probe["step"]]
    print(f"evidence: {probe['text']}")
    if not found:
        print("measured now: the journal holds no step before the failure")
        return 1
    compared: list[bool] = []
    for key, column in (("losses", "loss"), ("norms", "grad_norm")):
        values = [r[column] for r in found if column in r]
        if not values:
            continue
        print(f"measured now: {told(column, values)}")
        kept = probe["values"].get(key)
        if isinstance(kept, list) and kept and not isinstance(kept[0], (list, dict)):
            # "nan" and "inf" stand as texts in JSON.
            compared.append(str([float(x) for x in kept]) == str(values[-len(kept) :]))
    if not compared:
        print("the evidence holds no list of figures to compare them with")
        return 0
    print(
        "these are the figures of the evidence"
        if all(compared)
        else "these are not the figures of the evidence"
    )
    return 0 if all(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
