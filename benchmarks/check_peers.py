"""firstcause check beside other linters of torch code, on the same files in one run: faults found, false alarms, time.

    python benchmarks/check_peers.py PAIRS [CORRECT…] --peer NAME=COMMAND … [--out FILE.md]

PAIRS is a folder that ``check_faults.py --pairs`` wrote: each file by itself, before and after a fault was put in. CORRECT are
further programs without a fault. COMMAND is a linter's command line to which the files are added; its output is read for
``file:line`` and a message. A fault counts as found where a peer says something of the changed file that it does not say of the
unchanged one, whatever it says: that is in the peer's favour. For firstcause only a warning or an error counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# ``file:line:column: message``, and annotations as GitHub reads them.
_PLACE = re.compile(r"(?:file=)?([\w./-]+\.py)(?::|,line=)(\d+)(?::\d+)?(?:,[^:]*)?:*\s*(.*)")
OURS = "firstcause check"
QUIET = ("suggestion", "overengineering", "assumption")


@dataclass
class Answer:
    """What one peer says of all files: messages by file, and CPU seconds."""

    said: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs")
    parser.add_argument("correct", nargs="*")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        kinds, files = copied(Path(args.pairs), [Path(c) for c in args.correct], Path(place))
        answers = {OURS: ours(place, files)}
        for peer in args.peer:
            name, _, command = peer.partition("=")
            answers[name] = asked(shlex.split(command), place, files)
            print(name, round(answers[name].seconds, 1), file=sys.stderr, flush=True)
    text = table(kinds, files, answers)
    if args.out:
        Path(args.out).write_text(text, encoding="utf-8")
    print(text)


def copied(pairs: Path, correct: list[Path], place: Path) -> tuple[dict[str, str], list[str]]:
    """The kind of fault by the number of its pair, and all files, each in a folder of its own."""
    kinds: dict[str, str] = {}
    files: list[str] = []
    for folder in sorted(pairs.iterdir()):
        kinds[folder.name] = json.loads((folder / "fault.json").read_text())["kind"]
        for name in ("before.py", "after.py"):
            files.append(f"{folder.name}/{name[:-3]}/train.py")
            write(place / files[-1], (folder / name).read_text(encoding="utf-8"))
    for path in sorted(p for c in correct for p in (c.rglob("*.py") if c.is_dir() else [c])):
        files.append(f"correct/{len(files)}/train.py")
        write(place / files[-1], path.read_text(encoding="utf-8"))
    return kinds, files


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(place: str, files: list[str]) -> Answer:
    start, answer = cpu(), Answer()
    out = os.path.join(place, "found.json")
    command = [sys.executable, "-m", "firstcause", "check", "--no-cache", "-q", "--json", out, *files]
    subprocess.run(command, cwd=place, check=False)
    for one in json.loads(Path(out).read_text())["findings"]:
        if one["category"] not in QUIET:
            answer.said.setdefault(one["file"], Counter())[one["slug"]] += 1
    answer.seconds = cpu() - start
    return answer


def asked(command: list[str], place: str, files: list[str]) -> Answer:
    start, answer = cpu(), Answer()
    done = subprocess.run([*command, *files], cwd=place, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        match = _PLACE.search(line)
        if match:
            file = os.path.relpath(match[1], place) if os.path.isabs(match[1]) else os.path.normpath(match[1])
            # Numbers of lines in a message would make every message after the fault a new one.
            answer.said.setdefault(file, Counter())[re.sub(r"\d+", "", match[3])] += 1
    answer.seconds = cpu() - start
    return answer


def table(kinds: dict[str, str], files: list[str], answers: dict[str, Answer]) -> str:
    correct = [f for f in files if "/after/" not in f]
    lines = [
        f"{len(kinds)} faults of {len(set(kinds.values()))} kinds; {len(correct)} correct files.",
        "",
        "| tool | faults found | kinds of which one was found | findings on correct files | correct files with one | CPU s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, answer in answers.items():
        found = [n for n in kinds if is_found(answer, n)]
        on_correct = [sum(answer.said.get(f, Counter()).values()) for f in correct]
        lines.append(
            f"| {name} | {len(found)} | {len({kinds[n] for n in found})} | {sum(on_correct)} | "
            f"{sum(map(bool, on_correct))} | {answer.seconds:.1f} |"
        )
    lines += ["", "| fault | " + " | ".join(answers) + " |", "| --- |" + " --- |" * len(answers)]
    for kind in dict.fromkeys(kinds.values()):
        of_kind = [n for n in kinds if kinds[n] == kind]
        counts = [f"{sum(is_found(a, n) for n in of_kind)}/{len(of_kind)}" for a in answers.values()]
        lines.append(f"| {kind} | " + " | ".join(counts) + " |")
    return "\n".join(lines) + "\n"


def is_found(answer: Answer, number: str) -> bool:
    before = answer.said.get(f"{number}/before/train.py", Counter())
    return bool(answer.said.get(f"{number}/after/train.py", Counter()) - before)


if __name__ == "__main__":
    main()
