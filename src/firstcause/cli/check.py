"""Read code before it runs: faults, and what differs from what was asked for.

Exit code 0 where nothing of error severity stands, 1 where something does, 2 for a path or an option that cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace

from firstcause.check import baseline
from firstcause.check.cache import Cache
from firstcause.check.confirmed import confirm, confirmed, without_confirmed
from firstcause.check.fixes import Fixed, fix_all
from firstcause.check.pages import titles
from firstcause.check.pipeline import check
from firstcause.check.report import Report
from firstcause.check.settings import read_settings
from firstcause.cli.brief import read_text
from firstcause.cli.output import look, write_json
from firstcause.report import check_html
from firstcause.report.check_ci import github, markdown
from firstcause.report.check_json import report_to_json
from firstcause.report.check_sarif import sarif
from firstcause.report.check_text import concise, terminal
from firstcause.report.plain import visible
from firstcause.report.style import style_on

FORMATS = ("terminal", "concise", "json", "sarif", "github", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders of code (default: here)")
    parser.add_argument(
        "--brief",
        action="append",
        default=[],
        metavar="FILE",
        help="what was asked for, in the user's words; repeatable",
    )
    parser.add_argument("--format", choices=FORMATS, default="terminal", help="how to print the report")
    parser.add_argument("--json", metavar="FILE", help="write the findings as JSON")
    parser.add_argument("--confirm", metavar="KEY", help="keep an assumption, with the value that it has now")
    parser.add_argument(
        "--baseline", metavar="FILE", help="leave out what FILE holds; write it where there is none"
    )
    parser.add_argument("--fix", action="store_true", help="correct what can be corrected without a doubt")
    parser.add_argument(
        "--unsafe-fixes", action="store_true", help="also correct what a person should look at after"
    )
    parser.add_argument(
        "--diff", action="store_true", help="print what --fix would change, and change nothing"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes at most (default: the machine's cores)"
    )
    parser.add_argument("--no-cache", action="store_true", help="look at everything anew")
    parser.add_argument(
        "--dry",
        action="store_true",
        help="run the programs as well, sealed, on tensors without data: this executes their code",
    )
    parser.add_argument(
        "--command",
        metavar="LINE",
        help="what starts the program, such as 'python train.py --lr 1e-3'; implies --dry",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def main(args: argparse.Namespace) -> int:
    root = os.getcwd()
    settings = read_settings(root)
    paths = args.paths or list(settings.paths) or ["."]
    briefs = [read_text(path) for path in args.brief]
    cache = None if args.no_cache else Cache(_cache_folder())
    dry = args.command or ("" if args.dry else None)
    report = check(paths, root, briefs, args.jobs, cache, settings.exclude, dry)
    report = replace(report, findings=tuple(f for f in report.findings if settings.wants(f)))
    if args.confirm:
        print(f"confirmed: {args.confirm} = {confirm(root, args.confirm, report.findings)}")
    report = _without_known(report, root, args.baseline)
    if args.fix or args.unsafe_fixes or args.diff:
        fixed = fix_all(report.findings, root, paths, args.unsafe_fixes)
        if args.diff:
            sys.stdout.write(visible(fixed.diff))
            return 1 if fixed.files else 0
        _write(fixed)
        report = check(paths, root, briefs, args.jobs, cache, settings.exclude)
        report = replace(report, findings=tuple(f for f in report.findings if settings.wants(f)))
        report = _without_known(report, root, args.baseline)
        report = replace(
            report, notes=(*report.notes, f"{fixed.count} corrected in {len(fixed.files)} files")
        )
    if args.json:
        write_json(args.json, report_to_json(report))
    if not args.quiet:
        print(_shown(report, args.format))
    return 1 if report.errors else 0


def _without_known(report: Report, root: str, path: str | None) -> Report:
    """The report without what was confirmed, and without what a baseline holds."""
    findings, agreed = without_confirmed(report.findings, confirmed(root))
    notes = list(report.notes)
    if agreed:
        notes.append(f"{agreed} confirmed before")
    if path and not os.path.exists(path):
        baseline.write(path, findings)
        notes.append(f"{path} written with {len(findings)} findings; later checks leave them out")
        findings = []
    elif path:
        findings, known = baseline.without_known(path, findings)
        notes.append(f"{known} of {path} left out")
    return replace(report, findings=tuple(findings), notes=tuple(notes))


def _shown(report: Report, form: str) -> str:
    if form == "terminal":
        return terminal(report, style_on(sys.stdout, *look(sys.stdout)))
    if form == "json":
        return json.dumps(report_to_json(report), indent=1, default=str)
    if form == "sarif":
        return json.dumps(sarif(report, titles()), indent=1)
    flat = {"concise": concise, "github": github, "markdown": markdown, "html": check_html.page}
    return flat[form](report)


def _write(fixed: Fixed) -> None:
    for path, raw in fixed.files.items():
        temporary = f"{path}.{os.getpid()}.new"
        with open(temporary, "wb") as file:
            file.write(raw)
        os.chmod(temporary, os.stat(path).st_mode & 0o7777)
        os.replace(temporary, path)


def _cache_folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "firstcause", "check")
