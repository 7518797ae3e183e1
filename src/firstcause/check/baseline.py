"""A baseline: findings that stood when it was made, known by rule, scope and text, so that lines may move.

``--baseline FILE`` writes the file where there is none, and else leaves out what it holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from firstcause.errors import InputError
from firstcause.schema.finding import Finding

VERSION = 1


def fingerprint(finding: Finding) -> str:
    """A name for a finding that does not change where lines move or spaces change: rule, file, scope, the line's text."""
    text = re.sub(r"\s+", "", re.sub(r"#.*", "", finding.site.text))
    parts = (finding.slug, finding.site.file, finding.site.function, text, finding.argument or finding.key)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def write(path: str, findings: Iterable[Finding]) -> None:
    """Keep the findings of now; raises ``InputError`` where the file cannot be written."""
    entries = [
        {"id": fingerprint(f), "rule": f.slug, "file": f.site.file, "scope": f.site.function}
        for f in findings
    ]
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "findings": entries}, file, indent=1)
            file.write("\n")
        os.replace(temporary, path)
    except OSError as error:
        message = f"the baseline {path} cannot be written: {error.strerror}"
        raise InputError("baseline-unwritable", message, "give a path in a folder that exists") from error


def without_known(path: str, findings: Sequence[Finding]) -> tuple[list[Finding], int]:
    """The findings that the baseline does not hold, and how many it does; raises ``InputError`` for no baseline."""
    known = _read(path)
    new: list[Finding] = []
    for finding in findings:
        name = fingerprint(finding)
        # Two of a kind in one scope are two entries: a third one is new.
        if known[name] > 0:
            known[name] -= 1
        else:
            new.append(finding)
    return new, len(findings) - len(new)


def _read(path: str) -> Counter[str]:
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if not isinstance(data, dict) or data.get("version") != VERSION:
            raise ValueError(f"its version is not {VERSION}")
        return Counter(str(entry["id"]) for entry in data["findings"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"the baseline {path} cannot be read: {error}"
        raise InputError(
            "baseline-unreadable", message, "delete it, and run check again to make it anew"
        ) from error
