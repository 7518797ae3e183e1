"""Scores what is understood of sentences whose wishes are known.

    python benchmarks/brief/score.py FILE.toml [--misses]

A reading is right where key, value, relation and polarity are those of an expected one; a trap has none.
Prints precision, recall, traps that yielded nothing, and the time for a sentence.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:
    import tomli as tomllib

from firstcause.check.brief import Text, read


def same(x: Any, y: Any) -> bool:
    """Whether two values are equal: numbers by value, lists as sets, words without capitals."""
    if isinstance(x, list) and isinstance(y, list):
        return set(map(str, x)) == set(map(str, y))
    try:
        return math.isclose(float(x), float(y), rel_tol=1e-9)
    except (TypeError, ValueError):
        return str(x).lower() == str(y).lower()


def fits(found: Any, wanted: dict[str, Any]) -> bool:
    return (
        found.key == wanted["key"]
        and same(found.value, wanted["value"])
        and found.relation == wanted.get("relation", "eq")
        and found.polarity == wanted.get("polarity", "require")
    )


def score(entries: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    right = got = found = expected = clean = traps = 0
    misses = []
    begin = time.perf_counter()
    answers = [[i for i in read([Text(e["text"])]) if not i.derived] for e in entries]
    seconds = time.perf_counter() - begin
    for entry, answer in zip(entries, answers, strict=True):
        wanted = entry.get("expect", [])
        hits = [i for i in answer if any(fits(i, w) for w in wanted)]
        met = [w for w in wanted if any(fits(i, w) for i in answer)]
        right, got, found, expected = (
            right + len(hits),
            got + len(answer),
            found + len(met),
            expected + len(wanted),
        )
        if not wanted:
            traps, clean = traps + 1, clean + (not answer)
        for w in wanted:
            if w not in met:
                misses.append(
                    f"{entry['id']} missing {w['key']}={w['value']} ({w.get('relation', 'eq')}): {entry['text']}"
                )
        for i in answer:
            if i not in hits:
                misses.append(
                    f"{entry['id']} wrong {i.key}={i.value} {i.relation} {i.polarity}: {entry['text']}"
                )
    return {
        "sentences": len(entries),
        "precision": round(right / max(1, got), 3),
        "recall": round(found / max(1, expected), 3),
        "right_of_found": f"{right}/{got}",
        "found_of_expected": f"{found}/{expected}",
        "traps_clean": f"{clean}/{traps}",
        "ms_each": round(1000 * seconds / max(1, len(entries)), 2),
    }, misses


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--misses", action="store_true", help="show each reading that is missing or wrong")
    args = parser.parse_args()
    totals, missed = score(tomllib.loads(args.file.read_text(encoding="utf-8"))["sentence"])
    print(totals)
    if args.misses:
        print("\n".join(missed))
