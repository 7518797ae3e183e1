"""Functions with a backward written by hand: which are told wrong, how they are classified, and which are left alone.

    python benchmarks/functions.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each function of ``functions_written.py`` stands in a small training, which is recorded and diagnosed by the command line.
"""

from __future__ import annotations

from functions_written import Written, programs
from one_by_one import Row, arguments, asked, diagnosed, is_near, keep, line_of


def row(program: str, one: Written, tool: str) -> Row:
    """What the diagnosis says of one function, beside the truth."""
    _, answer = diagnosed(program, tool, "150s")
    said = " ".join(
        e["text"] for h in answer["hypotheses"] if h["status"] == "confirmed" for e in h["evidence"]
    )
    near = is_near(answer, line_of(program, "# wrong"))
    cause = answer.get("cause")
    if one.form is None:
        right = cause is None
    else:
        right = cause == "wrong-backward-formula" and one.form in said and near
    return {
        "name": one.name,
        "wrong": one.form is not None,
        "cause": cause,
        "line": near,
        "right": right,
        "said": said[:300],
    }


def main() -> int:
    every = programs()
    args = arguments(__doc__, {name: text for name, (text, _) in every.items()})
    rows = asked(args, every, lambda name: row(*every[name], args.firstcause))
    right = sum(bool(r["right"]) for r in rows)
    accused = sum(r["cause"] is not None for r in rows if not r["wrong"])
    print(f"classified {right} of {len(rows)}; accused without reason {accused}")
    keep(args.out, {"right": right, "of": len(rows)}, rows)
    return int(right < len(rows))


if __name__ == "__main__":
    raise SystemExit(main())
