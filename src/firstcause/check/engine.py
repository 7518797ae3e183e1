"""All rules over a project: each finding once, in the order of the files; a rule that fails costs only itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from firstcause.check.code import Code
from firstcause.check.rule import Rule
from firstcause.check.rules import rules
from firstcause.check.versions import holds
from firstcause.schema.finding import Finding


@dataclass(frozen=True)
class Failed:
    """A rule that ended in an exception: ours, never a finding."""

    slug: str
    why: str


@dataclass
class Outcome:
    """The findings of a run of the rules, and the rules that failed."""

    findings: list[Finding] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)


def run_rules(code: Code, chosen: Iterable[Rule] | None = None) -> Outcome:
    """Run rules over a project's code; those whose library versions do not hold are left out."""
    outcome = Outcome()
    seen: set[tuple[str, str, int, str]] = set()
    for rule in rules() if chosen is None else chosen:
        if not all(holds(code.versions.get(library), wanted) for library, wanted in rule.HOLDS.items()):
            continue
        try:
            found = list(rule.find(code))
        except Exception as error:  # noqa: BLE001
            outcome.failed.append(Failed(rule.SLUG, f"{type(error).__name__}: {error}"))
            continue
        for one in found:
            key = (one.slug, one.site.file, one.site.line, one.argument or one.key)
            if key not in seen:
                seen.add(key)
                outcome.findings.append(one)
    outcome.findings.sort(key=lambda f: (f.site.file, f.site.line, f.slug))
    return outcome
