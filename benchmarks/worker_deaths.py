"""Deaths of a loader's worker: six kinds, by fork and by spawn, of map, iterable and batched datasets; is the sample named.

    python benchmarks/worker_deaths.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each program is run and diagnosed through the command line, in an empty folder. A row says what torch raised, whether that
names the sample, and what the diagnosis says: the cause, the sample's index, the line.
"""

from __future__ import annotations

from one_by_one import Row, arguments, asked, diagnosed, line_of
from worker_deaths_programs import KINDS, SAMPLE, programs


def row(name: str, program: str, tool: str) -> Row:
    """What torch said and what the diagnosis says of one program."""
    kind, _, dataset = name.split(", ")
    lines = [line_of(program, KINDS[kind]), line_of(program, "return view[40000]")]
    # Items of a worker's own stream: the second worker's are the odd numbers.
    wanted = SAMPLE // 2 if dataset == "iterable" else SAMPLE
    run, answer = diagnosed(program, tool, "120s")
    symptoms = run["symptoms"]
    said = symptoms[0]["message"].splitlines()[0] if symptoms else ""
    named = [e["values"] for h in answer["hypotheses"] if h["status"] == "confirmed" for e in h["evidence"]]
    index = next((v["index"] for v in named if "index" in v), None)
    found = (answer.get("site") or {}).get("line")
    return {
        "name": name,
        "torch": said,
        "torch_names_it": str(SAMPLE) in said.replace("pid", ""),
        "cause": answer.get("cause"),
        "index": index,
        "named": answer.get("cause") == "worker-killed" and index == wanted,
        "line": found in lines,
    }


def main() -> int:
    every = programs()
    args = arguments(__doc__, every, "the table as Markdown")
    rows = asked(args, every, lambda name: row(name, every[name], args.firstcause))
    named, lines = sum(bool(r["named"]) for r in rows), sum(bool(r["line"]) for r in rows)
    print(f"sample named in {named} of {len(rows)}, line in {lines}")
    if args.out:
        args.out.write_text(table(rows, named, lines))
    return int(named < len(rows))


def table(rows: list[Row], named: int, lines: int) -> str:
    head = (
        f"Sample named in {named} of {len(rows)}, its line in {lines}; torch's own message names it in "
        f"{sum(bool(r['torch_names_it']) for r in rows)}.\n\n"
        "| death | torch says | sample named | line |\n| --- | --- | --- | --- |\n"
    )
    yes = {True: "yes", False: "no"}
    return head + "".join(
        f"| {r['name']} | {str(r['torch'])[:90]} | {yes[bool(r['named'])]} | {yes[bool(r['line'])]} |\n"
        for r in rows
    )


if __name__ == "__main__":
    raise SystemExit(main())
