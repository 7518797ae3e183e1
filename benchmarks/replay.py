"""Diagnoses the programs of `cases/` again, and shows where an answer differs from the one that is kept.

    python benchmarks/replay.py [--only PREFIX,…] [--firstcause PATH] [--keep]

`results/diagnoses.json` holds, for each case that was kept once, status, cause, line, verdicts and patch. A difference is
no fault by itself: somebody looks at it, and `--keep` takes the new answer. Cases that were never kept are left out unless
`--keep` is given. Exit code 1: an answer differs.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from pathlib import Path
from typing import Any

import score

KEPT = Path(__file__).resolve().parent / "results" / "diagnoses.json"


def told(row: dict[str, Any]) -> dict[str, Any]:
    """What of a scored answer has to stay the same: measured figures may move, what was concluded may not."""
    diagnosis = row.get("diagnosis") or {}
    site = diagnosis.get("site") or {}
    return {
        "outcome": row["outcome"],
        "cause": diagnosis.get("cause"),
        "line": f"{site['file']}:{site['line']}" if site else None,
        "verdicts": {h["cause"]: h["status"] for h in diagnosis.get("hypotheses") or []},
        "patch": ((diagnosis.get("fix") or {}).get("diff") or "").splitlines(),
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """A line for each thing that changed, and the change of a patch as a diff."""
    lines = [
        f"{name}: {before[name]} -> {after[name]}"
        for name in ("outcome", "cause", "line")
        if before[name] != after[name]
    ]
    causes = sorted({*before["verdicts"], *after["verdicts"]})
    verdicts = [(c, before["verdicts"].get(c, "absent"), after["verdicts"].get(c, "absent")) for c in causes]
    lines += [f"{cause}: {old} -> {new}" for cause, old, new in verdicts if old != new]
    patch = difflib.unified_diff(before["patch"], after["patch"], "kept", "now", n=0, lineterm="")
    return lines + [f"    {line}" for line in patch]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="PREFIX,…", help="cases whose id starts so")
    parser.add_argument(
        "--firstcause", default=str(Path(sys.executable).with_name("firstcause")), metavar="PATH"
    )
    parser.add_argument("--keep", action="store_true", help="keep the answers of now")
    args = parser.parse_args()
    scoring = argparse.Namespace(firstcause=args.firstcause, fixed_as_healthy=False, keep=None)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    wanted = tuple(args.only.split(","))
    cases = [c for c in sorted(score.CASES.glob("*/")) if c.name.startswith(wanted)]
    differ = 0
    for case in cases:
        if not args.keep and case.name not in kept:
            continue
        now = told(score.score(case, scoring))
        changed = differences(kept[case.name], now) if case.name in kept else ["kept for the first time"]
        differ += bool(changed)
        print("\n  ".join([f"{case.name}:", *changed]) if changed else f"{case.name}: the same", flush=True)
        if args.keep:
            kept[case.name] = now
            KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    print(f"{differ} of {len(cases) if args.keep else sum(c.name in kept for c in cases)} answers differ")
    return int(differ > 0 and not args.keep)


if __name__ == "__main__":
    sys.exit(main())
