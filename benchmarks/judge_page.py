"""Writes results/judge.md: every mode of the judge in one table, and what it left unestablished.

    python benchmarks/judge_page.py --date 2026-11-28 plain=plain.json reports=reports.json …

A file is what `benchmarks/score.py --out`, or a scorer with the same form, wrote: its totals for one part or for
several, and its cases. The name before the `=` is the mode's; the same name twice is one mode in two files.
"""

from __future__ import annotations

import argparse
import collections
import json
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent / "results" / "judge.md"
PROGRAMS = ("cases", "hit", "unproven", "wrong", "not-established", "missed", "clean", "false-alarm", "error")
SHARES = ("precision", "recall", "lines", "fixes", "median s")
HEAD = """\
# The judge

Made by `benchmarks/judge_page.py` from the scorer's own results, {date}. Outcomes and shares are explained in
[Scoring](../README.md#scoring). The programs are those that were
at hand while firstcause was built; others of the same kinds are kept apart, and their results are not known here.
"""
NOTHING = (
    "No result is kept yet: `python benchmarks/judge_page.py --date DAY MODE=RESULT.json` writes the table.\n"
)


def parts_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The totals of a result by part; one that has a single part calls it programs."""
    totals = result["totals"]
    if all(isinstance(value, dict) for value in totals.values()):
        return totals
    return {"programs": totals}


def table(results: list[tuple[str, dict[str, Any]]]) -> str:
    rows = [(mode, part, figures) for mode, result in results for part, figures in parts_of(result).items()]
    told = [row for row in rows if "recall" in row[2] and not isinstance(row[2]["recall"], dict)]
    lines = [
        f"| mode | part | {' | '.join(PROGRAMS + SHARES)} |",
        "| --- | --- |" + " ---: |" * len(PROGRAMS + SHARES),
    ]
    for mode, part, figures in told:
        cells = [str(figures.get(name, 0)) for name in PROGRAMS] + [_share(figures, name) for name in SHARES]
        lines.append(f"| {mode} | {part} | {' | '.join(cells)} |")
    others = [row for row in rows if row not in told]
    if others:
        lines += ["", "| mode | part | figures |", "| --- | --- | --- |"]
        lines += [f"| {mode} | {part} | {', '.join(_figures(figures))} |" for mode, part, figures in others]
    return "\n".join(lines) + "\n"


def unestablished(results: list[tuple[str, dict[str, Any]]]) -> str:
    """How often each cause was left without an answer, by mode, the most frequent first."""
    counts: dict[str, collections.Counter[str]] = {}
    for mode, result in results:
        for case in result.get("cases", []):
            if case.get("outcome") in ("not-established", "missed", "unproven"):
                counts.setdefault(str(case.get("expected", "")), collections.Counter())[mode] += 1
    if not counts:
        return ""
    modes = list(dict.fromkeys(mode for mode, _ in results))
    lines = [
        "",
        "## What is not established",
        "",
        f"| cause | {' | '.join(modes)} |",
        "| --- |" + " ---: |" * len(modes),
    ]
    for cause, by_mode in sorted(counts.items(), key=lambda item: (-sum(item[1].values()), item[0])):
        lines.append(f"| {cause} | {' | '.join(str(by_mode[mode]) for mode in modes)} |")
    return "\n".join(lines) + "\n"


def page(results: list[tuple[str, dict[str, Any]]], date: str) -> str:
    if not results:
        return HEAD.format(date="not run yet") + "\n" + NOTHING
    return HEAD.format(date=date) + "\n" + table(results) + unestablished(results)


def _share(figures: dict[str, Any], name: str) -> str:
    if name == "fixes" and "fixes_offered" in figures:
        return f"{figures['fixes_verified']}/{figures['fixes_offered']}"
    if name == "median s":
        return f"{figures['median_seconds']:.1f}" if "median_seconds" in figures else ""
    return "" if figures.get(name) is None else str(figures[name])


def _figures(figures: dict[str, Any]) -> list[str]:
    return [
        f"{name}: {' '.join(f'{k} {v}' for k, v in value.items()) if isinstance(value, dict) else value}"
        for name, value in figures.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--date", default="", help="the day of the run")
    parser.add_argument("results", nargs="*", metavar="MODE=FILE")
    args = parser.parse_args()
    split = [one.partition("=") for one in args.results]
    results = [(mode, json.loads(Path(file).read_text(encoding="utf-8"))) for mode, _, file in split]
    PAGE.write_text(page(results, args.date), encoding="utf-8")


if __name__ == "__main__":
    main()
