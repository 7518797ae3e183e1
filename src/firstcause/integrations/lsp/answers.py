"""Findings in the words of the protocol: diagnostics, the edits of an action, and the text under the cursor."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from firstcause.check.fixes import fix_for
from firstcause.check.pages import page, rule_named
from firstcause.integrations.lsp.documents import Document
from firstcause.report.check_sarif import level
from firstcause.report.plain import one_line
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site

SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
SOURCE = "firstcause"
# Between the first and the last change; comparing each line with each takes the square of it.
CLOSELY = 1000
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"


def diagnostic(finding: Finding, document: Document, codec: PositionCodec) -> types.Diagnostic:
    """One finding, from the first to the last sign of its line."""
    return types.Diagnostic(
        range=place(finding, document, codec),
        message=one_line(finding.message),
        severity=SEVERITIES[level(finding)],
        code=finding.slug,
        source=SOURCE,
        related_information=[_related(site, document) for site in finding.related] or None,
    )


def place(finding: Finding, document: Document, codec: PositionCodec) -> types.Range:
    """The first line of a finding as the client counts its columns: a loop's body is not what is meant."""
    lines = document.lines or [""]
    at = min(max(finding.site.line, 1), len(lines)) - 1
    body = lines[at].rstrip()
    begin = len(body) - len(body.lstrip())
    whole = types.Range(types.Position(at, begin), types.Position(at, len(body)))
    return codec.range_to_client_units(lines, whole)


def _related(site: Site, document: Document) -> types.DiagnosticRelatedInformation:
    line = types.Position(max(site.line, 1) - 1, 0)
    uri = from_fs_path(os.path.abspath(os.path.join(document.root, site.file))) or ""
    return types.DiagnosticRelatedInformation(
        types.Location(uri, types.Range(line, line)), one_line(site.text) or "this belongs to it"
    )


def actions(
    uri: str, document: Document, findings: Sequence[Finding], codec: PositionCodec
) -> Iterator[types.CodeAction]:
    """For each finding its correction, where one is beyond doubt or offered to a person, and the comment that keeps it."""
    for finding in findings:
        told = [diagnostic(finding, document, codec)]
        text = document.corrected(finding)
        if text is not None:
            safe = fix_for(finding.slug) is not None
            yield types.CodeAction(
                f"Correct {finding.slug}" if safe else f"Correct {finding.slug} (look at it after)",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=told,
                is_preferred=safe,
                edit=_edit(uri, document, text, codec),
            )
        text = _kept(document, finding)
        if text is not None:
            yield types.CodeAction(
                f"Keep this line: ignore[{finding.slug}]",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=told,
                edit=_edit(uri, document, text, codec),
            )


def correct_all(
    uri: str, document: Document, findings: Sequence[Finding], codec: PositionCodec
) -> types.CodeAction | None:
    """All corrections of a file that are beyond doubt, as editors ask for them on saving; None where there is none."""
    text = document.corrected_all(findings)
    if text is None:
        return None
    edit = _edit(uri, document, text, codec)
    return types.CodeAction("Correct what is beyond doubt", kind=FIX_ALL, edit=edit)


def _kept(document: Document, finding: Finding) -> str | None:
    """The text with the comment that keeps a finding; None where the comment would not, or would mean another line."""
    lines = document.lines
    at = finding.site.line - 1
    if not 0 <= at < len(lines) or finding.slug == "syntax-error":
        return None
    body = lines[at].rstrip()
    lines[at] = f"{body}  # firstcause: ignore[{finding.slug}]{lines[at][len(body) :]}"
    text = "".join(lines)
    before, after = document.findings(), replace(document, text=text).findings()
    gone = [f for f in after if (f.slug, f.site.line) == (finding.slug, finding.site.line)]
    return text if not gone and len(after) < len(before) else None


def _edit(uri: str, document: Document, text: str, codec: PositionCodec) -> types.WorkspaceEdit:
    """The lines that differ, so that the cursor and folded code stay where they are."""
    before, after = document.lines, replace(document, text=text).lines
    edits = []
    for i, j, k, m in _different(before, after):
        at = types.Range(types.Position(i, 0), _end(before, j))
        edits.append(types.TextEdit(codec.range_to_client_units(before, at), "".join(after[k:m])))
    return types.WorkspaceEdit(changes={uri: edits})


def _different(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where lines ``i`` to ``j`` become ``k`` to ``m``; in one piece where looking closer would take long."""
    start, shorter = 0, min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) > CLOSELY:
        yield start, start + len(old), start, start + len(new)
        return
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield start + i, start + j, start + k, start + m


def _end(lines: Sequence[str], line: int) -> types.Position:
    """The beginning of a line, or the end of the text where it has no such line."""
    if line < len(lines) or not lines or lines[-1].endswith(("\n", "\r")):
        return types.Position(line, 0)
    return types.Position(len(lines) - 1, len(lines[-1]))


def hover(findings: Sequence[Finding]) -> str:
    """What is known about the findings at a place, in Markdown: each with the page of its rule."""
    told = []
    for finding in findings:
        rule = rule_named(finding.slug)
        asked = f"asked: `{finding.asked or '-'}`, got: `{finding.got or '-'}`\n\n" if finding.asked else ""
        told.append(f"{asked}{page(rule)}" if rule is not None else f"{asked}{one_line(finding.message)}")
    return "\n\n---\n\n".join(told)
