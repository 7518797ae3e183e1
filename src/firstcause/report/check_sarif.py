"""A check's report as a SARIF 2.1.0 log, for code hosts and editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from firstcause import __version__
from firstcause.check.baseline import fingerprint
from firstcause.check.report import Report
from firstcause.report.plain import one_line
from firstcause.schema.finding import Category, Finding
from firstcause.schema.site import Site

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS: Mapping[Category, str] = {
    "critical": "error",
    "deviation": "error",
    "assumption": "warning",
    "overengineering": "warning",
    "warning": "warning",
    "suggestion": "note",
}


def sarif(report: Report, titles: Mapping[str, str]) -> dict[str, Any]:
    """One run; ``titles`` are one-sentence descriptions by slug, for those that have one."""
    slugs = sorted({f.slug for f in report.findings})
    driver = {
        "name": "firstcause",
        "version": __version__,
        "rules": [_rule(slug, titles.get(slug, "")) for slug in slugs],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, slugs.index(f.slug)) for f in report.findings],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": one_line(n)}} for n in report.notes
                ],
            }
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def level(finding: Finding) -> str:
    """The severity by which CI systems go; a deviation whose reason stands in the code is a note."""
    return "note" if finding.justified else LEVELS[finding.category]


def _rule(slug: str, title: str) -> dict[str, Any]:
    return {"id": slug, "shortDescription": {"text": title or slug.strip("-").replace("-", " ")}}


def _result(finding: Finding, index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.slug,
        "ruleIndex": index,
        "level": level(finding),
        "message": {"text": one_line(finding.message)},
        "locations": [_location(finding.site, finding.end_line)],
        "partialFingerprints": {"firstcause/v1": fingerprint(finding)},
        "properties": {
            name: one_line(getattr(finding, name))
            for name in ("category", "key", "argument", "asked", "got")
            if getattr(finding, name)
        },
    }
    if finding.related:
        result["relatedLocations"] = [{"id": n, **_location(s, 0)} for n, s in enumerate(finding.related, 1)]
    return result


def _location(site: Site, end: int) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(site.line, 1)}
    if end > site.line:
        region["endLine"] = end
    if site.text:
        region["snippet"] = {"text": one_line(site.text)}
    place = {
        "artifactLocation": {"uri": quote(one_line(site.file).replace("\\", "/"), errors="replace")},
        "region": region,
    }
    found: dict[str, Any] = {"physicalLocation": place}
    if site.function:
        found["logicalLocations"] = [{"fullyQualifiedName": one_line(site.function)}]
    return found
