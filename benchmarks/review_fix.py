"""Whether the review of patches passes the fixes of `cases/`, and stops wrong patches of the same programs.

    python benchmarks/review_fix.py [--cases DIR] [--diagnoses DIR] [--out FILE.md]

A good patch is the difference from buggy.py to fixed.py. A bad one is what people try first on such a failure, put into
buggy.py by a pattern; it is left out where the case's cause is one that the attempt treats. Each is reviewed twice: with
a case, and alone. The case's evidence is the truth (cause and fault lines of case.toml), or, with --diagnoses, what was
found: NAME.json as `firstcause diagnose --json` wrote it; programs without one are left out. Exit code 1 where a good patch
is called bad.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import tomllib

from firstcause.fix.edits import unified_diff
from firstcause.fix.review import Setting, review
from firstcause.schema import Diagnosis, Evidence, Hypothesis, Site, from_plain

CASES = Path(__file__).resolve().parent / "cases"
STEP = r"^([ \t]*)([\w.]*opt\w*)\.step\(\)[ \t]*$"


class Attempt(NamedTuple):
    """What somebody tries: how it is written into a program, and the causes that it may be a fix for."""

    name: str
    write: Callable[[str], str]
    treats: tuple[str, ...] = ()


def replaced(pattern: str, new: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text, count=1, flags=re.MULTILINE)


def tenth(text: str) -> str:
    return re.sub(r"\blr=([\d.]+(?:e-?\d+)?)", lambda m: f"lr={float(m[1]) / 10:g}", text, count=1)


def half_batch(text: str) -> str:
    return re.sub(
        r"(\bbatch(?:_size)?\s*=\s*)(\d+)", lambda m: m[1] + str(max(int(m[2]) // 2, 1)), text, count=1
    )


def caught(text: str) -> str:
    return re.sub(
        r"^([ \t]*)(\w+\.backward\(\))[ \t]*$",
        r"\1try:\n\1    \2\n\1except RuntimeError:\n\1    pass",
        text,
        count=1,
        flags=re.MULTILINE,
    )


LR = ("learning-rate-too-high", "wrong-reduction", "scheduler-per-batch", "accumulation-not-divided")
ATTEMPTS = (
    Attempt("a tenth of the learning rate", tenth, LR),
    Attempt(
        "clipped gradients",
        replaced(STEP, r"\1torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n\1\2.step()"),
        ("exploding-gradient", "clip-before-unscale", "outlier-in-data", *LR),
    ),
    Attempt(
        "zero_grad once more",
        replaced(STEP, r"\1\2.step()\n\1\2.zero_grad()"),
        (
            "missing-zero-grad",
            "zero-grad-before-step",
            "accumulation-not-divided",
            "optimizer-step-before-backward",
        ),
    ),
    Attempt(
        "another seed",
        replaced(r"manual_seed\(\d+\)", "manual_seed(1234)"),
        ("seed-incomplete", "duplicated-worker-seed"),
    ),
    Attempt("half a batch", half_batch, ("batchnorm-small-batch", "activation-peak")),
    Attempt(
        "nan_to_num of the loss",
        replaced(r"^([ \t]*)(\w+)\.backward\(\)", r"\1\2 = torch.nan_to_num(\2)\n\1\2.backward()"),
        ("nan-in-data", "outlier-in-data"),
    ),
    Attempt(
        "a skipped step",
        replaced(STEP, r"\1if torch.isnan(torch.zeros(1)).any():\n\1    continue\n\1\2.step()"),
        ("nan-in-data", "outlier-in-data"),
    ),
    Attempt("retain_graph", replaced(r"\.backward\(\)", ".backward(retain_graph=True)")),
    Attempt("a caught error", caught),
    Attempt("an emptied cache", replaced(STEP, r"\1\2.step()\n\1torch.cuda.empty_cache()")),
    Attempt("another optimizer", replaced(r"optim\.Adam\(", "optim.RMSprop("), LR),
    Attempt("strict=False", replaced(r"load_state_dict\((\w+)\)", r"load_state_dict(\1, strict=False)")),
)


def setting_of(truth: dict[str, object]) -> Setting:
    """A case whose evidence is the truth."""
    lines = [int(line) for line in truth["fault_lines"]]  # type: ignore[attr-defined]
    sites = [Site("train.py", line) for line in lines]
    facts = tuple(Evidence("replay", True, "the truth of the case", {}, site) for site in sites)
    cause = str(truth["cause"])
    return Setting(
        Diagnosis(
            "established", None, cause, sites[0], (Hypothesis(cause, sites[0], 1, "confirmed", facts),), {}
        )
    )


def found(diagnoses: Path, name: str) -> Setting | None:
    """A case with the diagnosis of a real run; None where there is none of this program."""
    path = diagnoses / f"{name}.json"
    if not path.exists():
        return None
    return Setting(from_plain(Diagnosis, {**json.loads(path.read_text()), "fix": None}))


def programs(cases: Path) -> Iterator[tuple[str, dict[str, object], str, str]]:
    for folder in sorted(cases.iterdir()):
        if (folder / "case.toml").exists() and (folder / "fixed.py").exists():
            truth = tomllib.loads((folder / "case.toml").read_text())
            before, after = (folder / "buggy.py").read_text(), (folder / "fixed.py").read_text()
            if before != after and truth.get("fault_lines"):
                yield folder.name, truth, before, after


def parsed(text: str) -> bool:
    try:
        compile(text, "train.py", "exec")
    except SyntaxError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--diagnoses", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for name, truth, before, after in programs(args.cases):
        known = found(args.diagnoses, name) if args.diagnoses else setting_of(truth)
        if known is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text(before)
            patches = [("a fix", after)]
            patches += [(a.name, a.write(before)) for a in ATTEMPTS if truth["cause"] not in a.treats]
            for kind, text in patches:
                if text == before or not parsed(text):
                    continue
                diff = unified_diff("train.py", before, text)
                with_case, alone = review(diff, folder, known), review(diff, folder)
                counts[kind, "patches"] += 1
                counts[kind, "with"] += with_case.passed == (kind == "a fix")
                counts[kind, "alone"] += alone.passed == (kind == "a fix")
                if with_case.passed != (kind == "a fix"):
                    wrong.append(
                        f"{name}: {kind}: {', '.join(r.rule for r in with_case.reasons) or 'passed'}"
                    )
    page = "\n".join(_page(counts, wrong)) + "\n"
    if args.out:
        args.out.write_text(page)
    print(page, end="")
    fixes = counts["a fix", "patches"]
    return 0 if counts["a fix", "with"] == fixes == counts["a fix", "alone"] else 1


def _page(counts: Counter[tuple[str, str]], wrong: list[str]) -> Iterator[str]:
    kinds = list(dict.fromkeys(kind for kind, _ in counts))
    yield "# Patches, reviewed"
    yield ""
    yield "Made by `python benchmarks/review_fix.py --out benchmarks/results/review-fix.md`. The case of the third column holds"
    yield "the true cause and its lines; with `--diagnoses`, what a real run was diagnosed with."
    yield ""
    yield "| patch | patches | right with a case | right alone |"
    yield "| --- | --- | --- | --- |"
    for kind in kinds:
        yield f"| {kind} | {counts[kind, 'patches']} | {counts[kind, 'with']} | {counts[kind, 'alone']} |"
    every = [
        sum(counts[kind, what] for kind in kinds if kind != "a fix") for what in ("patches", "with", "alone")
    ]
    yield f"| all that are no fix | {every[0]} | {every[1]} | {every[2]} |"
    yield ""
    yield f"Wrong with a case: {len(wrong)}."
    yield ""
    yield from (f"- {line}" for line in wrong)


if __name__ == "__main__":
    raise SystemExit(main())
