"""A check's report as one JSON object."""

from __future__ import annotations

from typing import Any

from firstcause.check.report import Report
from firstcause.schema import to_plain
from firstcause.schema.finding import Finding


def report_to_json(report: Report) -> dict[str, Any]:
    """``findings``, ``matches``, ``instructions``, ``files`` and ``notes``; lines are those of the files on disk."""
    return {
        "findings": [finding_to_json(f) for f in report.findings],
        "matches": list(report.matches),
        "instructions": to_plain(report.instructions),
        "files": report.files,
        "notes": list(report.notes),
    }


def finding_to_json(finding: Finding) -> dict[str, Any]:
    """A finding with its site's file and line beside its own fields."""
    plain: dict[str, Any] = to_plain(finding)
    site = plain.pop("site")
    return {
        "file": site["file"],
        "line": site["line"],
        "function": site["function"],
        "source": site["text"],
        **plain,
    }
