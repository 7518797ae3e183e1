"""A check's report in a line a finding."""

from __future__ import annotations

from firstcause.check.report import Report
from firstcause.report.plain import plain


def concise(report: Report) -> str:
    """``file:line: category slug: message`` for each finding, and a last line that counts them."""
    lines = [f"{f.site.file}:{f.site.line}: {f.category} {f.slug}: {f.message}" for f in report.findings]
    count = f"{len(report.findings)} findings, {len(report.errors)} of them errors, in {report.files} files"
    return "\n".join([*(plain(line) for line in lines), *report.notes, count])
