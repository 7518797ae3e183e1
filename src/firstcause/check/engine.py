"""All rules over a project: each finding once, in the order of the files; a rule that fails costs only itself."""

from __future__ import annotations

import gc
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from firstcause.check.cache import Cache
from firstcause.check.code import Code
from firstcause.check.programs import MAX_TOGETHER, programs
from firstcause.check.rule import Rule
from firstcause.check.rules import rules
from firstcause.check.versions import holds
from firstcause.schema.finding import Finding
from firstcause.schema.instruction import Instruction
from firstcause.source.project import Project, Unreadable

# Fewer files are checked sooner than a process starts.
FILES_PER_PROCESS = 40


@dataclass(frozen=True)
class Failed:
    """A rule that ended in an exception: ours, never a finding."""

    slug: str
    why: str


@dataclass
class Outcome:
    """The findings of a run of the rules, the rules that failed, files that cannot be read, and seconds by rule."""

    findings: list[Finding] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    # Files whose imports led to more files than were read with them.
    cut: list[str] = field(default_factory=list)


def run_rules(code: Code, chosen: Iterable[Rule] | None = None) -> Outcome:
    """Run rules over a project's code; those whose library versions do not hold are left out."""
    outcome = Outcome()
    for rule in rules() if chosen is None else chosen:
        if not all(holds(code.versions.get(library), wanted) for library, wanted in rule.HOLDS.items()):
            continue
        start = time.process_time()
        try:
            outcome.findings += rule.find(code)
        except Exception as error:  # noqa: BLE001
            outcome.failed.append(Failed(rule.SLUG, f"{type(error).__name__}: {error}"))
        outcome.seconds[rule.SLUG] = time.process_time() - start
    outcome.findings = _once(outcome.findings)
    return outcome


def run_programs(
    project: Project,
    versions: Mapping[str, str],
    instructions: tuple[Instruction, ...] = (),
    jobs: int | None = None,
    cache: Cache | None = None,
) -> Outcome:
    """Run all rules over each of a project's programs; ``jobs`` processes at most, the machine's cores by default."""
    cache = cache.fresh() if cache is not None else None
    found = _programs(project, cache)
    with _no_collections():
        parts, left = _known(found, versions, instructions, cache)
        number = min(jobs or _cores(), len(left), 1 + sum(len(p.files) for p in left) // FILES_PER_PROCESS)
        if number <= 1:
            parts += [_checked(p, versions, instructions, cache) for p in left]
        else:
            # What is imported before a fork is imported once.
            rules()
            work = [
                (p.root, p.shown_from, p.files, p.closed, p.effort, dict(versions), instructions, cache)
                for p in left
            ]
            with ProcessPoolExecutor(number, multiprocessing.get_context(_start())) as pool:
                parts += list(pool.map(_check_apart, work))
    outcome = _merged(parts)
    project.unreadable.update(outcome.unreadable)
    return outcome


def _programs(project: Project, cache: Cache | None) -> list[Project]:
    if cache is None:
        return programs(project)
    imports = cache.imports()
    found = programs(project, lambda file: imports.of(file, cache.digest(file)))
    imports.write()
    return found


def _known(
    found: Sequence[Project],
    versions: Mapping[str, str],
    instructions: tuple[Instruction, ...],
    cache: Cache | None,
) -> tuple[list[Outcome], list[Project]]:
    """What the cache holds of some programs, and the programs that are left to check."""
    if cache is None:
        return [], list(found)
    parts: list[Outcome] = []
    left: list[Project] = []
    for program in found:
        known = cache.read(cache.key(program, versions, instructions))
        if known is None:
            left.append(program)
        else:
            parts.append(Outcome(list(known.findings), cut=list(program.files) if known.cut else []))
    return parts, left


def _start() -> str:
    # A fork has everything imported already; elsewhere a fresh interpreter is the only way.
    return "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_apart(
    work: tuple[
        str, str, tuple[str, ...], bool, int | None, dict[str, str], tuple[Instruction, ...], Cache | None
    ],
) -> Outcome:
    root, shown_from, files, closed, effort, versions, instructions, cache = work
    program = Project(root, files, (), shown_from).part(files, closed)
    program.effort, program.most = effort, MAX_TOGETHER
    return _checked(program, versions, instructions, cache)


def _checked(
    program: Project, versions: Mapping[str, str], instructions: tuple[Instruction, ...], cache: Cache | None
) -> Outcome:
    outcome = run_rules(Code(program, versions, instructions))
    outcome.unreadable = dict(program.unreadable)
    outcome.cut = list(program.files) if program.cut else []
    if cache is not None and not outcome.failed and not outcome.unreadable:
        cache.write(cache.key(program, versions, instructions), program, outcome.findings)
    return outcome


def _merged(parts: Sequence[Outcome]) -> Outcome:
    whole = Outcome(_once(f for p in parts for f in p.findings))
    whole.failed = list({f.slug: f for p in parts for f in p.failed}.values())
    for part in parts:
        whole.cut += part.cut
        whole.unreadable.update(part.unreadable)
        for slug, seconds in part.seconds.items():
            whole.seconds[slug] = whole.seconds.get(slug, 0.0) + seconds
    return whole


def _once(findings: Iterable[Finding]) -> list[Finding]:
    unique = {(f.slug, f.site.file, f.site.line, f.argument or f.key): f for f in reversed(list(findings))}
    return sorted(unique.values(), key=lambda f: (f.site.file, f.site.line, f.slug))


@contextmanager
def _no_collections() -> Iterator[None]:
    """Trees are kept to the end: looking through them for garbage costs a third of the time and finds none."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Else the collector takes all of them for new, and goes through them twice.
        gc.freeze()
        gc.unfreeze()
        if was:
            gc.enable()
