"""Ask the peers the questions of this folder's format, and write the table of ``results/triage-peers.md``.

    python benchmarks/triage/peers.py QUESTIONS.jsonl --peers FOLDER

``FOLDER`` holds an environment for each peer (``python -m venv FOLDER/NAME && FOLDER/NAME/bin/pip install NAME``). A question
is a line with ``text``, ``action`` and ``routes``. Each peer is called by the command that it documents for a text. What it
names is mapped to the specialist that would be asked first, by ``MAPPED``; a name that is not there counts as wrong. "none" is
an empty answer or one that says that nothing is known. Where the right answer is a question or a refusal, "none" is right.
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

RESULTS = Path(__file__).parent.parent / "results/triage-peers.md"
DEBUG, MEMORY, SPEED = "debugging-techniques", "tensor-operations-and-memory", "performance-profiling"
DISTRIBUTED, AMP = "distributed-training-strategies", "mixed-precision-and-optimization"
AUTOGRAD, CHECKPOINTS = "custom-autograd-functions", "checkpointing-and-reproducibility"
MODULES, LOADING = "module-design-patterns", "data-loading"
# By words of the name: the first that it holds decides.
MAPPED = (
    (("cuda_assert", "device_side", "index", "illegal", "label"), (DEBUG,)),
    (("oom", "memory", "leak", "fragment"), (MEMORY, DEBUG, LOADING)),
    (
        ("shm", "dataloader", "worker", "data_pipeline", "data_loader", "input_bound", "batch-inspector"),
        (LOADING, SPEED, DEBUG),
    ),
    (("scale", "amp", "fp16", "precision", "bf16"), (AMP, DEBUG)),
    (("nan", "inf", "diverg", "spike", "overflow", "explod", "gradient-health", "numerical"), (DEBUG, AMP)),
    (
        ("nccl", "rank", "rendezvous", "collective", "desync", "ddp", "fsdp", "hang", "deadlock", "port"),
        (DISTRIBUTED, DEBUG),
    ),
    (("checkpoint", "state_dict", "resume", "corrupt", "seed", "determin", "disk"), (CHECKPOINTS, DEBUG)),
    (("slow", "throughput", "util", "idle", "gradient-noise", "compile", "step_time"), (SPEED, LOADING)),
    (
        ("overfit", "plateau", "not_learning", "flat", "train-guard", "plasticity", "uniform", "val_"),
        (DEBUG, MODULES),
    ),
    (("shape", "dtype", "dimension", "device"), (DEBUG, MODULES, AMP)),
    (("autograd", "backward", "inplace", "grad"), (AUTOGRAD, DEBUG)),
    (
        ("version", "driver", "import", "cuda", "cudnn", "cublas", "segfault", "environment", "python"),
        (DEBUG,),
    ),
    (("register", "parameter"), (MODULES, DISTRIBUTED)),
)
NOTHING = re.compile(
    r"^(?:unknown|unclassified|insufficient|needs_more|offline_engine|no_|none|inconclusive|unrecognized|abstain)",
    re.IGNORECASE,
)


def runmedic(folder: Path, text: Path) -> str:
    """The first finding of ``runmedic diagnose FILE --json``."""
    runs = json.loads(output([folder / "runmedic/bin/runmedic", "diagnose", text, "--json"]) or "[]")
    return next((str(f["check"]) for run in runs for f in run["findings"]), "")


def denpex(folder: Path, text: Path) -> str:
    """The failure of ``denpex diagnose-local FILE``."""
    found = re.search(
        r"^FAILURE: (\S+)", output([folder / "denpex/bin/denpex", "diagnose-local", text]), re.M
    )
    return found[1] if found else ""


def traintools(folder: Path, text: Path) -> str:
    """The first recommendation of ``traintools recommend PROBLEM --json``."""
    said = output(
        [
            folder / "traintools/bin/traintools",
            "recommend",
            text.read_text(errors="replace"),
            "--json",
            "--limit",
            "1",
        ]
    )
    return next((str(r["id"]) for r in json.loads(said or "{}").get("recommendations", ())), "")


def firstcause(_: Path, text: Path) -> str:
    """The action and the first specialist of ``firstcause triage FILE --json -``."""
    said = json.loads(output([sys.executable, "-m", "firstcause", "triage", text, "--json", "-"]))
    return str(said["routes"][0]) if said["action"] == "route" else ""


PEERS: dict[str, Callable[[Path, Path], str]] = {
    "firstcause": firstcause,
    "runmedic": runmedic,
    "denpex": denpex,
    "traintools": traintools,
}


def output(command: list[str | Path]) -> str:
    """What a command prints, whatever its exit code."""
    return subprocess.run(
        [str(part).replace("\0", "") for part in command],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    ).stdout.strip()


def judged(named: str, question: dict[str, object]) -> str:
    """right, wrong or none, for the name that a peer gave."""
    nothing = not named or NOTHING.search(named) is not None
    if question["action"] != "route":
        return "right" if nothing else "wrong"
    if nothing:
        return "none"
    first = next(iter(question["routes"]))  # type: ignore[call-overload]
    asked = (named,) if named == first else specialists(named)
    return "right" if first in asked else "wrong"


def specialists(named: str) -> tuple[str, ...]:
    """The specialists that may be meant by a name: the more it leaves open, the more count as right."""
    lower = named.lower()
    return next((where for words, where in MAPPED if any(word in lower for word in words)), ())


def main() -> int:
    """Ask all, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument(
        "--answers", type=Path, help="write what each named, as JSON; read again where it is there"
    )
    args = parser.parse_args()
    questions = [
        json.loads(line) for line in args.questions.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    answers: dict[str, list[str | None]] = (
        json.loads(args.answers.read_text()) if args.answers and args.answers.exists() else {}
    )
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "question.txt"
        for name, ask in PEERS.items():
            for question in questions[len(answers.setdefault(name, [])) :]:
                text.write_text(str(question["text"]), encoding="utf-8", errors="surrogatepass")
                answers[name].append(ask(args.peers, text))
                if args.answers:
                    args.answers.write_text(json.dumps(answers, indent=1))
    RESULTS.write_text(table(questions, answers), encoding="utf-8")
    sys.stdout.write(RESULTS.read_text(encoding="utf-8"))
    return 0


def table(questions: list[dict[str, object]], answers: dict[str, list[str | None]]) -> str:
    """The table in Markdown."""
    routed = sum(q["action"] == "route" for q in questions)
    lines = [
        "# The same questions through peers",
        "",
        f"{len(questions)} questions: {routed} have a first specialist, {len(questions) - routed} are not to be answered.",
        "Each tool was called by its documented command for a text. Its first named cause was mapped to the specialists that it",
        "may mean (`MAPPED` in `benchmarks/triage/peers.py`, in the peer's favour: several count as right); no answer is right",
        "where none was due. runmedic is made for logs, traintools for choosing a diagnostic: neither claims to read questions.",
        "These questions were in sight while firstcause was built; what it gets right of unseen ones is lower (docs/triage.md).",
        "",
        "| tool | asked | right | wrong | none |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, named in answers.items():
        counts = collections.Counter(
            judged(said, question)
            for said, question in zip(named, questions, strict=False)
            if said is not None
        )
        lines.append(
            f"| {name} | {counts.total()} | {counts['right']} | {counts['wrong']} | {counts['none']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
