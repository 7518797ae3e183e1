"""The silent programs of ``cases/`` through peers that look at training runs, and the table of ``results/silent-peers.md``.

    python benchmarks/score.py --only silent-,mismatch-,meant- --keep RUNS
    python benchmarks/silent_peers.py RUNS --peers FOLDER

No peer takes a program. So each is given more than it would have: the loss and the gradient norm of every step, which
firstcause recorded, as JSON lines where it reads such a file (runmedic), else the printed output (denpex) or the report
(traintools). A peer that lists several causes is right where the true one is anywhere in what it lists (``NAMED``). Of a
healthy program, a finding that is a warning or worse is an accusation. ``FOLDER`` holds an environment for each peer.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import tomllib

from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "silent-peers.md"
# What in a peer's text counts as the cause, in the peer's favour.
NAMED = {
    "accumulation-not-divided": r"accumulat",
    "bad-initialisation": r"initiali[sz]",
    "detached-encoder": r"detach|no_grad|not connected to the loss",
    "dropout-active-at-eval": r"eval\(\)|dropout",
    "duplicated-worker-seed": r"worker.*seed|seed.*worker",
    "eval-mode-in-training": r"train\(\)|eval mode|dropout",
    "frozen-by-mistake": r"frozen|requires_grad",
    "inplace-data-mutation": r"in.?place|data order changed",
    "label-mismatch": r"misaligned|shuffled separately",
    "label-shift": r"shift",
    "loss-term-dominates": r"loss term|weight of the",
    "missing-zero-grad": r"zero_grad",
    "not-shuffled": r"shuffl",
    "optimizer-before-params-replaced": r"not passed to the optimizer",
    "optimizer-step-missing": r"optimizer\.step",
    "padding-in-loss": r"padding",
    "params-missing-from-optimizer": r"not passed to the optimizer",
    "saturated-activation": r"saturat",
    "scheduler-per-batch": r"schedul",
    "softmax-before-cross-entropy": r"softmax",
    "unregistered-submodules": r"not passed to the optimizer|unregistered|ModuleList",
    "wrong-reduction": r"reduction",
    "wrong-sign-loss": r"\bsign\b",
    "zero-grad-before-step": r"zero_grad",
}
SEVERE = {"critical", "warning"}


def runmedic(peers: Path, run: Path, _: Path) -> tuple[str, bool]:
    """All that ``runmedic diagnose`` says of the steps, and whether it warns."""
    with tempfile.TemporaryDirectory() as temp:
        steps = Path(temp) / "metrics.jsonl"
        rows = steps_of(RunFolder(str(run)).journals().values())
        kept = [
            {"step": r["step"], "train/loss": r.get("loss"), "train/grad_norm": r.get("grad_norm")}
            for r in rows
        ]
        steps.write_text("".join(json.dumps(r) + "\n" for r in kept))
        said = output([peers / "runmedic/bin/runmedic", "diagnose", steps, "--json"])
    runs = json.loads(said) if said.startswith("[") else []
    findings = [f for r in runs for f in r["findings"]]
    return json.dumps(findings), any(f.get("severity") in SEVERE for f in findings)


def denpex(peers: Path, run: Path, case: Path) -> tuple[str, bool]:
    """What ``denpex diagnose-local`` says of the printed output, and whether it names a failure."""
    with tempfile.TemporaryDirectory() as temp:
        log = Path(temp) / "train.log"
        log.write_text((case / "report.txt").read_text())
        said = output([peers / "denpex/bin/denpex", "diagnose-local", log])
    failure = re.search(r"^FAILURE: (\S+)", said, re.M)
    return said, failure is not None and not failure[1].startswith(("NEEDS_MORE", "UNKNOWN", "NO_"))


def traintools(peers: Path, run: Path, case: Path) -> tuple[str, bool]:
    """The diagnostic that ``traintools recommend`` would use for the report; it accuses nobody."""
    said = output(
        [peers / "traintools/bin/traintools", "recommend", (case / "report.txt").read_text(), "--json"]
    )
    return said, False


PEERS: dict[str, Callable[[Path, Path, Path], tuple[str, bool]]] = {
    "runmedic": runmedic,
    "denpex": denpex,
    "traintools": traintools,
}


def output(command: list[str | Path]) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=120, check=False
    )
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path)
    parser.add_argument("--peers", type=Path, required=True)
    args = parser.parse_args()
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for run in sorted(p for p in args.runs.iterdir() if (p / "run.json").exists()):
        case = HERE / "cases" / run.name
        cause = tomllib.loads((case / "case.toml").read_text())["cause"]
        for name, ask in PEERS.items():
            said, accuses = ask(args.peers, run, case)
            if cause == "none":
                verdict = "accused" if accuses else "left alone"
            else:
                named = cause in NAMED and re.search(NAMED[cause], said, re.I) is not None
                verdict = "cause listed" if named else "other causes" if accuses else "nothing"
            counts[name][verdict] += 1
            print(f"{run.name:32s} {name:12s} {cause:32s} {verdict}", flush=True)
    RESULTS.write_text(table(counts))
    sys.stdout.write(RESULTS.read_text())
    return 0


def table(counts: dict[str, collections.Counter[str]]) -> str:
    """The table in Markdown."""
    first = next(iter(counts.values()), collections.Counter())
    healthy = first["accused"] + first["left alone"]
    columns = ("cause listed", "other causes", "nothing", "accused", "left alone")
    lines = [
        "# Silent programs through peers",
        "",
        f"{first.total() - healthy} programs that fail without a word, {healthy} healthy ones. No peer takes a program: runmedic",
        "was given the loss and gradient norm of every step, denpex the report with the printed output, traintools the report.",
        "A list of possible causes is right where the true one is anywhere in it; none of the three names a line, tries a change",
        "or offers a patch. Of a healthy program, a warning is an accusation.",
        "`python benchmarks/silent_peers.py` (there: how each was called and judged).",
        "",
        f"| tool | {' | '.join(columns)} |",
        f"| --- |{' --- |' * len(columns)}",
    ]
    lines += [f"| {name} | {' | '.join(str(found[c]) for c in columns)} |" for name, found in counts.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
