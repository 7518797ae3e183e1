"""What the run's own loaders give when they are asked sample by sample, and what a failure in them looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from firstcause.installed import is_installed
from firstcause.lab.loading.ask import ask
from firstcause.lab.loading.wrong import is_wrong
from firstcause.schema import Evidence, Site
from firstcause.specialists.examination import Examination, Facts

# torch's own files of loaders, in a traceback of the main process or of a worker.
LOADERS = re.compile(r"torch[/\\]utils[/\\]data")
WORKER = re.compile(r"Caught (\w+) in DataLoader worker process (\d+)")
FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)\n\s+(?P<text>.*)')
WITH_WORKERS = re.compile(r"num_workers\s*=\s*(?!0\b)|dataloader_num_workers\s*=\s*(?!0\b)")


def failed(examination: Examination) -> bool:
    """Whether the failure passed through a loader, or ended a program that has workers without a word."""
    if examination.symptom.kind == "exception":
        return any(LOADERS.search(f["file"]) for e in chain(examination) for f in e.get("frames") or ())
    return examination.symptom.kind in ("signal", "exit-code") and has_workers(examination)


def has_workers(examination: Examination) -> bool:
    """Whether the source asks for workers of a loader."""
    modules = examination.project.modules if examination.project is not None else ()
    return any(WITH_WORKERS.search(module.text) for module in modules)


def chain(examination: Examination) -> list[Facts]:
    """The exception that ended the run, with what it was raised from."""
    kept: list[Facts] = examination.failure.get("exception") or []
    if kept:
        return kept
    events = (e for reading in examination.folder.journals().values() for e in reading.events)
    return next((e["exception"] for e in events if e.get("event") == "unhandled"), [])


def message(examination: Examination) -> str:
    """The failing exception's message, with a worker's traceback where there is one."""
    return "\n".join(str(e.get("message", "")) for e in chain(examination)) or examination.symptom.message


def told_by_worker(examination: Examination) -> list[Facts]:
    """The frames of the program in a worker's traceback, outermost first: places of the record."""
    text = message(examination)
    found = [m.groupdict() | {"line": int(m["line"])} for m in FRAME.finditer(text)]
    return [f for f in found if not is_installed(f["file"]) and "/lib/python" not in f["file"]]


def kind_raised(examination: Examination) -> str:
    """The type of the exception that the dataset or the collate function raised, in a worker or in the program itself."""
    inside = WORKER.search(message(examination))
    return inside.group(1) if inside else str((chain(examination) or [{}])[0].get("type", ""))


def asked(examination: Examination) -> Facts | str:
    """What was seen of the loader that fails, asked for once a failure; or why there is nothing."""
    return examination.once("loading", lambda: _asked(examination))


def _asked(examination: Examination) -> Facts | str:
    if examination.lab is None:
        return "the loader asked sample by sample: diagnose with --yes"
    found = ask(examination.lab)
    if isinstance(found, str):
        return found
    wrong = [s for s in found["seen"] if is_wrong(s)]
    if wrong:
        last: Facts = wrong[-1]
        return last
    loaders = ", ".join(
        f"{s['loader']['dataset']} ({(s.get('walk') or {}).get('asked', 0)})" for s in found["seen"]
    )
    return f"a sample that fails: none did when each was asked for alone ({loaders or 'no loader was begun'}; {found['ended']})"


def walk(examination: Examination) -> Facts:
    """The walk through the failing loader; empty where there was none."""
    seen = asked(examination)
    found: Facts = {} if isinstance(seen, str) else seen.get("walk") or {}
    return found


def shows(examination: Examination, *signs: str) -> bool:
    """Whether one of these was seen; also where nothing could be seen, so that somebody says why."""
    seen = asked(examination)
    return isinstance(seen, str) or any(seen.get(s) or (seen.get("walk") or {}).get(s) for s in signs)


def missing(examination: Examination, otherwise: str) -> str:
    """Why nothing is known of the loaders, else what would have shown this cause."""
    seen = asked(examination)
    return seen if isinstance(seen, str) else otherwise


def explained(examination: Examination, index: object) -> Facts:
    """What tells one failing sample from the others."""
    found: list[Facts] = walk(examination).get("explained") or []
    return next((e for e in found if e["index"] == index), {})


def innermost(examination: Examination, raised: Facts) -> Site | None:
    """The line of the program that raised."""
    frames: list[Facts] = raised.get("frames") or []
    return examination.site(frames[-1]) if frames else None


def name(sample: Facts) -> str:
    """A sample by its index and by what the program calls it."""
    number = (
        f"item {sample['index']} of worker {sample['worker']}"
        if "worker" in sample
        else f"sample {sample['index']}"
    )
    return f"{number} ({'; '.join(sample['who'])})" if sample.get("who") else number


def experiment(text: str, values: Facts, site: Site | None) -> Evidence:
    """Evidence of the loader asked again in a sealed process."""
    return Evidence("experiment", True, text, values, site)


def shapes(samples: list[list[object]]) -> Iterator[tuple[str, list[tuple[object, tuple[int, ...]]]]]:
    """The parts of a batch whose samples have several shapes: path, and the shape of each sample by its index."""
    by_path: dict[str, list[tuple[object, tuple[int, ...]]]] = {}
    for index, form in samples:
        for path, _, size in form:  # type: ignore[attr-defined]
            if size is not None:
                by_path.setdefault(path, []).append((index, tuple(size)))
    yield from ((path, found) for path, found in by_path.items() if len({s for _, s in found}) > 1)
