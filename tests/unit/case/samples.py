"""A project with a real fault and a diagnosis of it, for the tests of case, report and cli."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firstcause.schema import SECTIONS, Diagnosis, Evidence, Fix, Hypothesis, Run, Site, Symptom, to_plain

PROGRAM = """\
import torch


def loss(logits, target):
    p = torch.sigmoid(logits).clamp(1e-8, 1 - 1e-8)
    return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()


print(loss(torch.tensor([30.0]), torch.tensor([1.0])))
"""
FIXED = PROGRAM.replace("1e-8, 1 - 1e-8", "1e-6, 1 - 1e-6")
SITE = Site("train.py", 6, "loss", PROGRAM.splitlines()[5].strip())
TEXTS = (
    "The loss became nan at step 118, after 117 finite steps with a median of 0.021.",
    "torch.log(1 - p) received 0.0 at element 3 (sample 17): p is 1.0 exactly, because 1 - 1e-8 rounds to 1.0 "
    "in float32. The smallest argument of the step before was 5.9e-08.",
    "log(0) is -inf, and -inf times a factor of 0 is NaN. Backward carries it to all 14 parameters.",
    "train.py:5: clamp at 1e-6, which float32 can hold beside 1.0.",
    "The loss of one element is bounded by 13.8; below p = 1e-6 no gradient flows through the clamp.",
    "Predictions still saturate: sample 17 keeps a logit of 30.0.",
)


def unified(changes: Mapping[str, tuple[str, str]], context: int = 3) -> str:
    """A unified diff of {path: (before, after)} as a tool would write it, markers for missing newlines included."""
    text = ""
    for path, (old, new) in changes.items():
        pair = (old.splitlines(keepends=True), new.splitlines(keepends=True))
        for line in difflib.unified_diff(*pair, f"a/{path}", f"b/{path}", n=context):
            text += line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
    return text


def evidence(kind: Any = "replay", supports: bool = True, text: str = TEXTS[1], **values: Any) -> Evidence:
    return Evidence(kind, supports, text, values, SITE, 118)


def diagnosis(cause: str = "log-of-zero", /, diff: str | None = None, **changes: Any) -> Diagnosis:
    """The established diagnosis of PROGRAM; keyword arguments replace fields."""
    diff = unified({"train.py": (PROGRAM, FIXED)}) if diff is None else diff
    fields: dict[str, Any] = {
        "status": "established",
        "symptom": Symptom("nan", "the loss became nan", SITE, 118),
        "cause": cause,
        "site": SITE,
        "hypotheses": (
            Hypothesis(
                "learning-rate-too-high",
                None,
                2,
                "refuted",
                (
                    evidence(
                        "counterfactual", False, "with a tenth of the learning rate the loss is still nan"
                    ),
                ),
            ),
            Hypothesis(cause, SITE, 1, "confirmed", (evidence(smallest=0.0, element=3),)),
            Hypothesis("nan-in-data", None, 3, "inconclusive", (), "the range of the inputs of step 118"),
        ),
        "sections": dict(zip(SECTIONS, TEXTS, strict=True)),
        "fix": Fix(cause, diff, "Clamp the probability at 1e-6.", TEXTS[4], TEXTS[5]),
    }
    return Diagnosis(**{**fields, **changes})


def project(folder: Path) -> Path:
    """A project folder with PROGRAM, a finished run of it, and the run's record; returns the .firstcause folder."""
    (folder / "train.py").write_bytes(PROGRAM.encode())
    (folder / "data.py").write_bytes(b"SEED = 1\n")
    root = folder / ".firstcause"
    run = root / "runs" / "r1"
    run.mkdir(parents=True)
    record = Run(
        id="r1",
        command=("python", "train.py"),
        folder=str(folder),
        started="2026-11-28T09:30:12Z",
        python="3.11.7",
        platform="linux",
        seconds=12.31,
        exit_code=0,
        sources={"train.py": "", "data.py": ""},
        symptoms=(Symptom("nan", "the loss became nan", SITE, 118),),
        observed=True,
    )
    (run / "run.json").write_text(json.dumps(to_plain(record)))
    return root
