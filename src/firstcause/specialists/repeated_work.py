"""Work that is done again for the same inputs and gives the same: in the loader, or in the step itself."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise

from firstcause.schema import Site
from firstcause.source.pieces import taken
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Change, Slow

# Data that are made up from a seed are meant to be made anew: keeping them would need the memory that is spared.
MADE_UP = ("manual_seed", "Generator", "default_rng", "RandomState", "rand", "seed(", "normal(", "choice(")
READS = ("open(", "load(", "read", "loads(", "parse", "decode")
# Where only a later pass over the data does the same again, all of the data would have to be kept. Data that are read from
# files in each pass are read so on purpose: they need not fit into memory.
LEAST_LATER = 0.75
FILES = ("open(", ".read(", ".seek(", "load(", "imread", "from_file", "fromfile", "memmap")
# Where a name stands for the number of workers; a sealed process has none, so their share is worked out.
UNKNOWN_WORKERS = 4


def form(cause: str, is_mine: Callable[[Examination, Facts], bool]) -> Slow:
    """A cause that is one place of repeated work."""
    return Slow(cause, lambda e: _mine(e, is_mine), told, site, changes, known)


def _mine(examination: Examination, is_mine: Callable[[Examination, Facts], bool]) -> Facts:
    piece = speeds.repeated(examination)
    return piece if piece and _is_wasted(examination, piece) and is_mine(examination, piece) else {}


def of_data(examination: Examination, piece: Facts) -> bool:
    """Whether the work makes samples or batches, or reads what they are made from."""
    if piece["seen"]["built"] and piece["row"]["data"] < 0.5 * piece["row"]["share"]:
        return False
    return bool(piece["row"]["data"] >= 0.5 * piece["row"]["share"]) or _says(examination, piece, READS)


def _is_wasted(examination: Examination, piece: Facts) -> bool:
    seen = piece["seen"]
    if _says(examination, piece, MADE_UP) or not _is_waited_for(examination, piece):
        return False
    if seen["within_seconds"] >= 0.5 * seen["repeated_seconds"]:
        return True
    whole = speeds.pace(examination)["seconds"]
    return bool(seen["seconds"] >= LEAST_LATER * whole) and not _says(examination, piece, FILES)


def _is_waited_for(examination: Examination, piece: Facts) -> bool:
    """Whether the steps would be faster without the work also where workers do it beside them."""
    workers = _workers(examination)
    if not workers or piece["row"]["data"] < 0.5 * piece["row"]["share"]:
        return True
    data = speeds.parts(speeds.pace(examination)).get("data", 0.0)
    before = max(data / workers, 1 - data)
    return bool(before >= speeds.FASTER * max((data - piece["again"]) / workers, 1 - data))


def _workers(examination: Examination) -> int:
    """The most workers that a loader of the program may have, as its source says; 0 for none."""
    modules = examination.project.modules if examination.project is not None else ()
    asked = [k.value for m in modules for k in m.nodes(ast.keyword) if k.arg == "num_workers"]
    known = [v.value if isinstance(v, ast.Constant) else UNKNOWN_WORKERS for v in asked]
    return max((n for n in known if isinstance(n, int)), default=0)


def _says(examination: Examination, piece: Facts, words: tuple[str, ...]) -> bool:
    """Whether the piece, or a function of the program that it calls, holds one of some words."""
    texts = []
    found = speeds.text_of(examination, piece)
    if found is not None:
        texts += [found[0].segment(s) for s in found[1]]
    for file, line, name in piece["row"]["below"]:
        module = examination.project.module(file) if examination.project is not None else None
        for node in module.nodes(ast.FunctionDef) if module is not None else ():
            if module is not None and node.name == name and node.lineno <= line <= (node.end_lineno or 0):
                texts.append(module.segment(node))
    return any(word in text for word in words for text in texts)


def told(examination: Examination, piece: Facts) -> str:
    """What is done again, how often, and what it takes."""
    seen = piece["seen"]
    place = site(examination, piece)
    data = speeds.parts(speeds.pace(examination)).get("data", 0.0)
    loader = f"the loader takes {100 * data:.0f} % of the steps' time; " if data >= 0.3 else ""
    return (
        f"{loader}`{place.text if place else ''}` runs {seen['calls']} times and gives the same {seen['distinct']} "
        f"result{'' if seen['distinct'] == 1 else 's'} again and again: {seen['repeats']} of these runs repeat an earlier "
        f"one with the same inputs and take {100 * piece['again']:.0f} % of the time"
    )


def site(examination: Examination, piece: Facts) -> Site | None:
    """The statement that does the work again; of a whole function, the line that calls it, where there is only one."""
    called = _called(examination, piece)
    if called is not None:
        return speeds.site_at(examination, *called)
    found = speeds.text_of(examination, piece)
    if found is None:
        return None
    hot = [s for s in found[1] if s.lineno <= piece["row"]["line"] <= (s.end_lineno or s.lineno)]
    return found[0].site(hot[0] if piece["kind"] == "run" and hot else found[1][0])


def _called(examination: Examination, piece: Facts) -> tuple[str, int] | None:
    if piece["kind"] != "body":
        return None
    lines = set()
    for stack in speeds.pace(examination)["stacks"]:
        frames = stack["frames"]
        for (file, line, _), caller in pairwise(frames):
            if file == piece["file"] and piece["line"] < line <= piece["last"] and caller[0]:
                inside = caller[0] == file and piece["line"] < caller[1] <= piece["last"]
                lines |= set() if inside else {(caller[0], caller[1])}
    return lines.pop() if len(lines) == 1 else None


def changes(examination: Examination, piece: Facts) -> list[Change]:
    keys = ("file", "line", "column", "last", "kind", "number")
    statement = {k: piece[k] for k in keys} | {"how": "keep"}
    return [Change("with each result kept and given again", (statement,), drawing=True)]


def known(examination: Examination, piece: Facts) -> Facts:
    """What a fix needs: the piece, its inputs, how many values each had, and whether they can be keys."""
    found = speeds.text_of(examination, piece)
    names = taken(found[1], piece["kind"]) if found is not None else []
    seen = piece["seen"]
    inputs = [
        {"name": n, "values": c, "simple": s}
        for n, c, s in zip(names, seen["columns"], seen["simple"], strict=False)
    ]
    keys = ("file", "line", "column", "last", "kind")
    called = _called(examination, piece)
    return {k: piece[k] for k in keys} | {
        "inputs": inputs,
        "called": {"file": called[0], "line": called[1]} if called is not None else None,
        "hot": piece["row"]["line"],
        "distinct": seen["distinct"],
    }
