"""Pressure tests for agents that debug PyTorch.

    python -m pressure list
    python -m pressure fixtures                  is every fault real, and does hiding it fail
    python -m pressure run --subject scripted:reference --arm none --arm skill
    python -m pressure run --subject chat --url http://127.0.0.1:8000/v1 --model NAME --only RT- --repeats 5 --yes
    python -m pressure run --subject 'command:agent -p {prompt}' --executing --yes
    python -m pressure export DIR                evals.json for each skill

What a run may cost at most is told before it begins; a subject that is not scripted begins with --yes alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from pressure.arms import ARMS
from pressure.evals import export
from pressure.fixtures import check_fixture, executing
from pressure.report import report
from pressure.running import TURNS, Run, run_once
from pressure.scenario import Scenario, scenarios
from pressure.subjects.chat import CALLS, Chat
from pressure.subjects.command import CommandAgent
from pressure.subjects.scripted import scripts
from pressure.subjects.subject import Subject

# What one message may carry into a model at most, in tokens: skills, tools, and the answers of tools.
CONTEXT = 16_000


def main(argv: list[str] | None = None) -> int:
    """Run one verb; 0 where nothing failed, 1 where something did, 2 where nothing was run."""
    args = _parser().parse_args(argv)
    return int({"list": _list, "fixtures": _fixtures, "export": _export, "run": _run}[args.verb](args))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pressure", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="the scenarios")
    fixtures = verbs.add_parser("fixtures", help="run the programs of all fixtures")
    fixtures.add_argument("--only", default="", metavar="PREFIX")
    verbs.add_parser("export", help="write evals.json").add_argument("folder")
    run = verbs.add_parser("run", help="let a subject work on scenarios")
    run.add_argument("--subject", required=True, help="a script of list, chat, or command:LINE with {prompt}")
    run.add_argument("--arm", action="append", choices=list(ARMS), help="repeatable (default: all four)")
    run.add_argument("--only", default="", metavar="PREFIX,…", help="scenarios by the beginning of their id")
    run.add_argument(
        "--executing", action="store_true", help="on the programs, of those scenarios that have one"
    )
    run.add_argument("--repeats", type=int, default=1)
    run.add_argument(
        "--most-runs", type=int, default=2000, help="stop before more runs than these (default: 2000)"
    )
    run.add_argument("--url", default="", help="the address of a chat-completions interface, with its /v1")
    run.add_argument("--model", default="")
    run.add_argument("--no-tools", action="store_true", help="for a model that cannot call functions")
    run.add_argument("--most-tokens", type=int, default=1024, help="of one answer (default: 1024)")
    run.add_argument(
        "--price", type=float, default=0.0, metavar="USD", help="for a million tokens, to tell the cost"
    )
    run.add_argument("--yes", action="store_true", help="begin, whatever it may cost at most")
    run.add_argument(
        "--out", metavar="FOLDER", help="keep report.md and runs.jsonl with the whole talks here"
    )
    return parser


def _list(_: argparse.Namespace) -> int:
    for one in scenarios().values():
        mark = one.fixture or "words"
        print(f"{one.id:<14} {one.control or one.group:<14} {mark:<26} {one.says[:70]}")
    print(f"\n{len(scenarios())} scenarios, {len(executing())} of them on programs; scripted subjects:")
    print("\n".join(scripts()))
    return 0


def _fixtures(args: argparse.Namespace) -> int:
    checked = [check_fixture(one) for one in executing() if one.id.startswith(args.only)]
    for row in checked:
        looks = "its output looks right" if row.looks_right else "its output is bad as well"
        print(f"{'sound' if row.sound else 'UNSOUND':<8} {row.scenario:<6} {row.fixture}")
        print(f"         fires {row.fires}, repair passes {row.repaired}, hidden symptom fails ({looks}):")
        print(f"         {'; '.join(row.falls_by)[:200]}")
    sound, right = sum(row.sound for row in checked), sum(row.looks_right for row in checked)
    print(
        f"\n{sound} of {len(checked)} sound; in {right} the output of the hidden symptom looks right, and it fails all the same"
    )
    return 0 if sound == len(checked) else 1


def _export(args: argparse.Namespace) -> int:
    print(f"{export(Path(args.folder))} scenarios written below {args.folder}")
    return 0


def _run(args: argparse.Namespace) -> int:
    subject = _subject(args)
    arms = [ARMS[name] for name in args.arm or ARMS]
    chosen = _chosen(args)
    count = len(arms) * len(chosen) * args.repeats
    print(_costs(args, count), file=sys.stderr)
    if not chosen or count > args.most_runs:
        print(
            f"{count} runs, and 1 to {args.most_runs} are allowed: see --only and --most-runs",
            file=sys.stderr,
        )
        return 2
    if not args.subject.startswith("scripted:") and not args.yes:
        print("next: the same with --yes", file=sys.stderr)
        return 2
    runs = []
    for arm in arms:
        for scenario in chosen:
            for _ in range(args.repeats):
                runs.append(run_once(subject, arm, scenario, args.executing))
                _tell(runs[-1])
    text = report(runs, f"{subject.name}, {len(chosen)} scenarios, {args.repeats} repeats")
    if args.out:
        _keep(Path(args.out), text, runs)
    print(text)
    return 1 if any(run.verdict == "fail" for run in runs) else 0


def _subject(args: argparse.Namespace) -> Subject:
    if args.subject.startswith("command:"):
        return CommandAgent(args.subject.partition(":")[2])
    if args.subject == "chat":
        return Chat(
            args.url, args.model, os.environ.get("PRESSURE_KEY", ""), args.most_tokens, not args.no_tools
        )
    if args.subject not in scripts():
        raise SystemExit(f"there is no subject {args.subject!r}: chat, command:LINE, {', '.join(scripts())}")
    return scripts()[args.subject]


def _chosen(args: argparse.Namespace) -> list[Scenario]:
    beginnings = tuple(args.only.split(","))
    return [
        one
        for one in scenarios().values()
        if one.id.startswith(beginnings)
        and (bool(one.fixture) if args.executing else not one.fixture or not one.control)
    ]


def _costs(args: argparse.Namespace, count: int) -> str:
    if args.subject.startswith("scripted:"):
        return f"{count} runs, which cost nothing"
    answers = TURNS * (CALLS if args.subject == "chat" else 1)
    most = count * answers * (CONTEXT + args.most_tokens)
    price = f", {most / 1e6 * args.price:.2f} USD" if args.price else ""
    return f"{count} runs, at most {answers} answers each: at most {most / 1e6:.1f} million tokens{price}"


def _tell(run: Run) -> None:
    why = "; ".join(f"{f.check}: {f.seen}" for f in run.failed) or run.why
    print(f"{run.verdict:<14} {run.arm:<16} {run.scenario:<14} {why[:140]}", file=sys.stderr, flush=True)


def _keep(folder: Path, text: str, runs: list[Run]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(text, encoding="utf-8")
    with (folder / "runs.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(_plain(run), ensure_ascii=False) + "\n" for run in runs)


def _plain(run: Run) -> dict[str, Any]:
    events = [
        {"kind": e.kind, "text": e.text, **({"data": e.data} if e.kind == "call" else {})}
        for e in run.transcript.events
    ]
    return {
        **{
            key: getattr(run, key)
            for key in ("scenario", "arm", "subject", "verdict", "why", "seconds", "tokens")
        },
        "failed": [[f.check, f.seen] for f in run.failed],
        "events": events,
    }


if __name__ == "__main__":
    sys.exit(main())
