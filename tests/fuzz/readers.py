"""Every reader of files that come from elsewhere, as the command that reads them and what it is given."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from case.samples import PROGRAM, diagnosis
from damage import as_bytes, damaged_bytes, damaged_value
from exchange.histories import events, offline_run, trainer_state
from hypothesis import strategies as st
from made import archives, journals
from seeds import (
    ASKED,
    BRIEF,
    CALL,
    CELLS,
    CONFIG,
    CONFIGURED,
    DIFF,
    DUMP,
    ERROR_FILE,
    LOG,
    MEMORY,
    REQUIRED,
    RUN,
    SETTINGS,
    SHELL,
    TRACE,
)  # fmt: skip
from view.projects import MEMORY as LOOKED
from view.projects import PROFILE

from firstcause.record import checked
from firstcause.schema import to_plain

Contents = st.SearchStrategy[bytes]
CHECK = ("check", "--no-cache", "--jobs", "1")
CSV = ("export", RUN, "--to", "made", "-f")
PAGE = ("report", RUN, "-o", "made", "-f")
FAILURE = f"{RUN}/failures/*.json"
JOURNAL = f"{RUN}/*.journal"
READ_BY = {"configured.py": CONFIGURED, "config.yaml": CONFIG, "ds.json": b'{"decay": 0.1}'}
summed, plain = as_bytes(checked.dumps), as_bytes(json.dumps)


def pickled(value: Any) -> bytes:
    return pickle.dumps(value, protocol=2)


def values(value: Any, *written: Callable[[Any], bytes]) -> Contents:
    """A value with odd parts, and its bytes damaged, in each of the forms in which it is written."""
    return st.one_of(*(damaged_value(value).map(write) for write in written)) | given(
        *(w(value) for w in written)
    )


def given(*seeds: bytes) -> Contents:
    return damaged_bytes(seeds)


@dataclass(frozen=True)
class Reader:
    """A command, the file that it reads (by a pattern where a part of its name is chance), and what that file may hold in a project.

    ``beside`` are files that stand there whole; ``stdin`` gives the file on standard input.
    """

    name: str
    words: tuple[str, ...]
    file: str
    contents: Callable[[Path], Contents]
    beside: dict[str, bytes] = field(default_factory=dict)
    stdin: bool = False


def _run(project: Path) -> Contents:
    return values(checked.loads((project / RUN / "run.json").read_text()), summed)


def _journal(project: Path) -> Contents:
    return given(next(project.glob(JOURNAL)).read_bytes()) | journals()


def _failure(project: Path) -> Contents:
    return values(checked.loads(next(project.glob(FAILURE)).read_text()), summed)


def _history(project: Path) -> Contents:
    return given(next((project / ".firstcause" / "cases").glob("*/history.jsonl")).read_bytes())


def _report(project: Path) -> Contents:
    return given((project / "report.html").read_bytes()) | archives()


def _state(project: Path) -> Contents:
    written = trainer_state(project) / "checkpoint-30" / "trainer_state.json"
    return values(json.loads(written.read_text()), plain)


def _wandb(project: Path) -> Contents:
    shutil.rmtree(project / "wandb", ignore_errors=True)
    return given(next(offline_run(project).glob("*.wandb")).read_bytes())


def _events(project: Path) -> Contents:
    shutil.rmtree(project / "runs", ignore_errors=True)
    return given(next(events(project).glob("*tfevents*")).read_bytes())


READERS = (
    Reader("text", ("triage", "--why", "FILE"), "log.txt", lambda _: given(LOG, ASKED, gzip.compress(LOG))),
    Reader("error-file", ("triage", "FILE"), "error.json", lambda _: values(ERROR_FILE, plain)),
    Reader("flight", ("triage", "FILE"), "nccl_trace_rank_0", lambda _: values(DUMP, pickled, plain)),
    Reader("run", ("diagnose", RUN, "--json", "-"), f"{RUN}/run.json", _run),
    Reader("run-page", PAGE, f"{RUN}/run.json", _run),
    Reader("run-shown", ("runs", "show", RUN), f"{RUN}/run.json", _run),
    Reader("run-listed", ("runs", "list"), f"{RUN}/run.json", _run),
    Reader("run-compared", ("diff", RUN, RUN), f"{RUN}/run.json", _run),
    Reader("run-ranks", ("ranks", RUN), f"{RUN}/run.json", _run),
    Reader("failure", ("diagnose", RUN, "--json", "-"), FAILURE, _failure),
    Reader("failure-page", PAGE, FAILURE, _failure),
    Reader("journal", CSV, JOURNAL, _journal),
    Reader("journal-followed", ("watch", RUN), JOURNAL, _journal),
    Reader("journal-diagnosed", ("diagnose", RUN), JOURNAL, _journal),
    Reader("journal-page", PAGE, JOURNAL, _journal),
    Reader("history", ("case", "show"), ".firstcause/cases/*/history.jsonl", _history),
    Reader("trace", ("profile", "--from", "FILE"), "trace.json", lambda _: values(TRACE, plain)),
    Reader("memory", ("profile", "--from", "FILE"), "memory.pickle", lambda _: values(MEMORY, pickled)),
    Reader("memory-page", PAGE, f"{RUN}/memory.json", lambda _: values(LOOKED, summed)),
    Reader("profile-page", PAGE, f"{RUN}/profile.json", lambda _: values(PROFILE, summed)),
    Reader("trainer-state", ("import", "FILE"), "trainer_state.json", _state),
    Reader("wandb", ("import", "FILE"), "run-x1.wandb", _wandb),
    *([Reader("events", ("import", "FILE"), "events.out.tfevents.1", _events)] if find_spec("tensorboard") else []),
    Reader("report", ("open", "FILE", "-o", "made"), "r.html", _report),
    Reader("notebook", (*CHECK, "FILE"), "n.ipynb", lambda _: values(CELLS, plain)),
    Reader("source", (*CHECK, "FILE"), "x.py", lambda _: given(PROGRAM.encode(), CONFIGURED)),
    Reader("yaml", (*CHECK, "configured.py"), "config.yaml", lambda _: given(CONFIG), READ_BY),
    Reader("json", (*CHECK, "configured.py"), "ds.json", lambda _: given(READ_BY["ds.json"]), READ_BY),
    Reader("toml", (*CHECK, "train.py"), "pyproject.toml", lambda _: given(SETTINGS)),
    Reader("requirements", (*CHECK, "train.py"), "requirements.txt", lambda _: given(REQUIRED)),
    Reader("launch", (*CHECK, "."), "run.sh", lambda _: given(SHELL)),
    Reader("brief", ("brief", "FILE"), "brief.md", lambda _: given(BRIEF)),
    Reader("asked", (*CHECK, "train.py", "--brief", "FILE"), "brief.md", lambda _: given(BRIEF)),
    Reader("baseline", (*CHECK, "x.py", "--baseline", "FILE"), "base.json", lambda _: given(b'{"version": 1, "findings": {"x.py": {"a": 1}}}'), {"x.py": CONFIGURED}),
    Reader("patch", ("review-fix", "FILE"), "fix.diff", lambda _: given(DIFF)),
    Reader("diagnosis", ("review-fix", "fix.diff", "--diagnosis", "FILE"), "d.json", lambda _: values(to_plain(diagnosis()), plain), {"fix.diff": DIFF}),
    Reader("call", ("hook",), "call.json", lambda _: values(CALL, plain), stdin=True),
)  # fmt: skip
