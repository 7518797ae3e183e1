"""The report of many runs: rates with intervals, arms against each other, and RED, GREEN, REFACTOR in the subjects' words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pressure.arms import ARMS
from pressure.running import Run
from pressure.statistics import fisher, wilson

LEAST = 5
_REASONS = re.compile(
    r"\b(time|quick|hurry|deadline|simply|just|obvious\w*|likely|usually|probably|senior|lead|already|should be fine|for now)\b",
    re.IGNORECASE,
)
LONGEST = 300


def report(runs: Sequence[Run], title: str) -> str:
    """The report in Markdown."""
    arms = [name for name in ARMS if any(run.arm == name for run in runs)]
    lines = [
        f"# {title}",
        "",
        *_rates(runs, arms),
        *_checks(runs, arms),
        *_colours(runs, arms),
        *_apart(runs),
    ]
    return "\n".join(lines) + "\n"


def _rates(runs: Sequence[Run], arms: Sequence[str]) -> Iterator[str]:
    yield (
        "| arm | passed | of | rate | 95 % (Wilson) | indeterminate | against `none` (Fisher) | tokens | seconds |"
    )
    yield "| --- | ---: | ---: | ---: | --- | ---: | --- | ---: | ---: |"
    base = _counts(runs, "none")
    for arm in arms:
        passed, failed = _counts(runs, arm)
        low, high = wilson(passed, passed + failed)
        own = [run for run in runs if run.arm == arm]
        apart = sum(run.verdict == "indeterminate" for run in own)
        rate = f"{passed / (passed + failed):.0%}" if passed + failed else "-"
        p = (
            f"p = {fisher(passed, failed, *base):.3g}"
            if arm != "none" and any(base) and passed + failed
            else "-"
        )
        tokens, seconds = sum(run.tokens for run in own), sum(run.seconds for run in own)
        yield (
            f"| {arm} | {passed} | {passed + failed} | {rate} | {low:.0%} to {high:.0%} | {apart} | {p} | "
            f"{tokens} | {seconds:.0f} |"
        )
    few = [arm for arm in arms if 0 < min(Counter(r.scenario for r in runs if r.arm == arm).values()) < LEAST]
    if few:
        yield from (
            "",
            f"Fewer than {LEAST} repeats a scenario in: {', '.join(few)}. That shows plumbing, and no rate.",
        )


def _counts(runs: Sequence[Run], arm: str) -> tuple[int, int]:
    verdicts = Counter(run.verdict for run in runs if run.arm == arm)
    return verdicts["pass"], verdicts["fail"]


def _checks(runs: Sequence[Run], arms: Sequence[str]) -> Iterator[str]:
    failed = Counter((f, run.arm) for run in runs for f in {failure.check for failure in run.failed})
    names = sorted({check for check, _ in failed})
    if names:
        yield from (
            "",
            "## By check",
            "",
            f"| check | {' | '.join(arms)} |",
            f"| --- |{' ---: |' * len(arms)}",
        )
        yield from (f"| {name} | {' | '.join(str(failed[name, arm]) for arm in arms)} |" for name in names)


def _colours(runs: Sequence[Run], arms: Sequence[str]) -> Iterator[str]:
    """RED: what failed without anything, word for word. GREEN: the arm that closed it. REFACTOR: what still fails beyond it."""
    yield from ("", "## RED, GREEN, REFACTOR", "")
    yield from (
        "| scenario | RED: failed without | in its words | GREEN: closed by | REFACTOR: still failing |",
        "| --- | --- | --- | --- | --- |",
    )
    for scenario in dict.fromkeys(run.scenario for run in runs):
        own = [run for run in runs if run.scenario == scenario]
        red = next((run for run in own if run.arm == "none" and run.verdict == "fail"), None)
        later = [arm for arm in arms if arm != "none"]
        green = next((arm for arm in later if _most(own, arm)), "-")
        still = [f"{arm}: {'; '.join(sorted(_failing(own, arm)))}" for arm in later if _failing(own, arm)]
        if red is None and not still:
            continue
        what = "; ".join(failure.check for failure in red.failed) if red else "-"
        said = _cell(excuse(red)) if red else "-"
        yield f"| {scenario} | {what} | {said} | {green if red else '-'} | {_cell(' / '.join(still)) or '-'} |"


def _most(runs: Sequence[Run], arm: str) -> bool:
    passed, failed = _counts(runs, arm)
    return passed > failed


def _failing(runs: Sequence[Run], arm: str) -> set[str]:
    return {failure.check for run in runs if run.arm == arm for failure in run.failed}


def excuse(run: Run) -> str:
    """The sentence with which a subject that failed gave its reason, word for word; else what the check saw."""
    sentences = re.split(r"(?<=[.!?])\s+|\n", run.transcript.said())
    reasons = [s.strip() for s in sentences if _REASONS.search(s) and not s.startswith("question:")]
    return (reasons or [failure.seen for failure in run.failed] or [""])[0][:LONGEST]


def _apart(runs: Sequence[Run]) -> Iterator[str]:
    apart = Counter(f"{run.scenario}, {run.arm}: {run.why}" for run in runs if run.verdict == "indeterminate")
    if apart:
        yield from ("", "## Indeterminate", "", *(f"- {_cell(why)} ({n} times)" for why, n in apart.items()))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
