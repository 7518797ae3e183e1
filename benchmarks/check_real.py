"""What `firstcause check` says of real code: findings for each 1,000 lines, and all of a category to judge.

    python benchmarks/check_real.py FOLDER… [--show critical,deviation] [--sample 100 --seed 0] [--out FILE.json]

Each folder is a project and is checked by itself, with the versions that its requirements pin.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections import Counter
from pathlib import Path

from firstcause.check.pipeline import check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--show", default="critical,deviation")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out")
    args = parser.parse_args()
    findings: list[dict[str, object]] = []
    files = lines = 0
    start = time.process_time()
    for folder in args.folders:
        report = check([folder], os.path.abspath(folder), jobs=1)
        files += report.files
        lines += sum(p.read_bytes().count(b"\n") for p in Path(folder).rglob("*.py"))
        for f in report.findings:
            place = f"{os.path.basename(folder.rstrip('/'))}: {f.site.file}:{f.site.line}"
            findings.append({"category": f.category, "slug": f.slug, "place": place, "message": f.message})
    seconds = time.process_time() - start
    shown = [f for f in findings if f["category"] in args.show.split(",")]
    if args.sample and len(shown) > args.sample:
        shown = random.Random(args.seed).sample(shown, args.sample)
    for one in shown:
        print(f"{one['place']}  {one['slug']}: {one['message']}")
    counts = Counter(str(f["category"]) for f in findings)
    print(f"{files} files, {lines:,} lines, {seconds:.0f} s of CPU")
    for category, count in counts.most_common():
        print(f"{category}: {count}, {1000 * count / max(lines, 1):.3f} for each 1,000 lines")
    if args.out:
        Path(args.out).write_text(json.dumps(findings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
