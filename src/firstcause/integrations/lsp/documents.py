"""Findings of a file as the editor holds it, and its text as the corrections of check would leave it."""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.check.confirmed import confirmed, without_confirmed
from firstcause.check.fixes import fix_all, fix_for
from firstcause.check.pipeline import check
from firstcause.check.settings import is_excluded, read_settings
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class Document:
    """One Python file: its absolute path, the text that the editor holds, and the folder it is checked from."""

    path: str
    text: str
    root: str

    @property
    def lines(self) -> list[str]:
        """The lines as Python and editors count them, with their ends: by other signs ``splitlines`` parts as well."""
        return _LINE.findall(self.text)

    @property
    def encoding(self) -> str:
        """The encoding that the text names in its first lines, UTF-8 where it names none that is known."""
        try:
            named = tokenize.detect_encoding(io.BytesIO(self.text.encode("utf-8", "replace")).readline)[0]
        except SyntaxError:
            return "utf-8"
        # A mark of the byte order stands in the text already.
        return named.replace("utf-8-sig", "utf-8")

    @property
    def texts(self) -> dict[str, bytes]:
        """The file as it would be saved."""
        return {self.path: self.text.encode(self.encoding, "replace")}

    def findings(self) -> list[Finding]:
        """What check finds in this file, by the settings of its folder; a text that is no Python is one finding.

        Raises ``InputError`` for settings that cannot be read.
        """
        settings = read_settings(self.root)
        if not os.path.isfile(self.path) or is_excluded(self.path, self.root, settings.exclude):
            return []
        try:
            report = check([self.path], self.root, jobs=1, texts=self.texts)
        except SyntaxError as error:
            return [self._unreadable(error)]
        except (MemoryError, RecursionError):
            # What Python's parser says of an expression that is nested too deeply.
            return []
        kept, _ = without_confirmed(report.findings, confirmed(self.root))
        name = self.name
        return [f for f in kept if f.site.file == name and settings.wants(f)]

    def corrected(self, finding: Finding) -> str | None:
        """The whole text with one finding corrected; None where nothing is corrected without a doubt."""
        if fix_for(finding.slug, unsafe=True) is None:
            return None
        fixed = fix_all([finding], self.root, [self.path], unsafe=True, texts=self.texts)
        raw = fixed.files.get(self.path)
        return raw.decode(self.encoding) if raw is not None else None

    def corrected_all(self, findings: Sequence[Finding]) -> str | None:
        """The text after every correction that changes nothing else; None where there is none."""
        fixed = fix_all(findings, self.root, [self.path], texts=self.texts)
        raw = fixed.files.get(self.path)
        return raw.decode(self.encoding) if raw is not None else None

    @property
    def name(self) -> str:
        """The path as findings have it: relative beneath the root, else absolute."""
        relative = os.path.relpath(self.path, self.root)
        return self.path if relative.startswith("..") else relative

    def _unreadable(self, error: SyntaxError) -> Finding:
        site = Site(self.name, error.lineno or 1, "", (error.text or "").strip())
        return Finding("syntax-error", "critical", site, f"this cannot be read: {error.msg}")
