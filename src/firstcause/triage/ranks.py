"""Which rank failed first: those who waited for it, or were killed with it, are not it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from firstcause.triage.expressions import expression
from firstcause.triage.lines import Line
from firstcause.triage.reading import Raised

_WAITED = expression(
    r"Watchdog caught collective|timed out|timeout|detected by watchdog|Some NCCL operations have failed|"
    r"taking the entire process down|remote process exited|ncclRemoteError|Connection (?:closed|reset)|Broken pipe|"
    r"NCCL communicator was aborted|destroy_process_group|Socket Timeout|recvValue failed|DistStoreError|"
    r"Received signal|SignalException|Sending process \d+ closing signal|heartbeat|SIGTERM|KeyboardInterrupt",
    re.IGNORECASE,
)
_OWN = expression(
    r"Assertion `|CUDA error|out of memory|Segmentation fault|SIGSEGV|SIGBUS|SIGKILL|Fatal Python error"
)
_WATCHDOG = expression(
    r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d{1,18}), OpType=(\w{1,60})"
)
_SAID_RANK = expression(r"\[(?:PG \S{1,40}[^\]\n]{0,60} )?Rank (\d{1,5})\]")
_ROOT = "Root Cause (first observed failure)"
_ROOT_RANK = expression(r"\s{0,8}rank\s{1,12}: (\d{1,5})\b")
_ROOT_CODE = expression(r"\s{0,8}exitcode\s{1,12}: (-?\d{1,5})\b")
_CHILD = expression(r"failed \(exitcode: (-?\d{1,5})\) (?:local_)?rank: (\d{1,5})")
_SILENT = expression(
    r"(?:only )?(?:rank|gpu|worker) ?(\d{1,5}) (?:says|said|prints|printed|logs|logged|shows|wrote|"
    r"writes|has|gives) (?:nothing|no)\b|"
    r"(?:rank|gpu) ?(\d{1,5}) (?:is|was|stays|stayed|goes|went|remains) (?:silent|quiet|missing|dead|gone)\b",
    re.IGNORECASE,
)
_WORLD = expression(
    (
        r"(?:world[_ ]?size|WORLD_SIZE|nproc[_-]per[_-]node|num_processes)[=: ]{1,3}(\d{1,5})\b|"
        r"\b(\d{1,5}) ?x? ?(?:gpus|ranks)\b"
    ),
    re.IGNORECASE,
)
_WORLD_WORDS = ("world", "nproc", "num_processes", "gpu", "ranks")
_BY_LAUNCHER = frozenset({-15, -6, 1})


class Ranks(NamedTuple):
    """What is known of the ranks of a run."""

    named: tuple[int, ...]
    first_failed: int | None
    silent: int | None
    origin: int | None
    sequences: dict[int, int]


def ranks_of(lines: Sequence[Line], raised: Sequence[Raised]) -> Ranks:
    """The ranks that a text names, the one that failed first, the one that says nothing."""
    named: dict[int, None] = {}
    failed: list[tuple[str, int, int]] = []
    waited: dict[int, int] = {}
    sequences: dict[int, int] = {}
    silent = world = None
    root = _root_cause(lines)
    for line in lines:
        text = line.text[:1000]
        rank = line.origin.rank
        if rank is None and "Rank " in text and (match := _SAID_RANK.search(text)):
            rank = int(match[1])
        if rank is not None:
            named.setdefault(rank)
        if (
            world is None
            and any(word in text.lower() for word in _WORLD_WORDS)
            and (match := _WORLD.search(text))
        ):
            world = int(match[1] or match[2])
        if ("rank" in text or "gpu" in text.lower()) and (match := _SILENT.search(text)):
            silent = int(match[1] or match[2])
        if rank is None:
            continue
        if match := _WATCHDOG.search(text):
            sequences.setdefault(rank, int(match[1]))
        if _WAITED.search(text):
            waited.setdefault(rank, line.number)
        elif _OWN.search(text):
            failed.append((line.origin.time, line.number, rank))
    for exception in raised:
        if exception.rank is not None and exception.exception and not _is_wait(exception):
            failed.append(("", exception.line, exception.rank))
    if silent is None:
        silent = _missing(named, waited, sequences, world)
    origin = _origin(failed, root, sequences, silent)
    return Ranks(tuple(named), origin if origin is not None else silent, silent, origin, sequences)


def is_waiting(text: str) -> bool:
    """Whether a message says that somebody waited or was ended from outside, rather than failed."""
    return _WAITED.search(text[:1000]) is not None


def _is_wait(exception: Raised) -> bool:
    name = exception.exception.rsplit(".", 1)[-1]
    return name in (
        "DistBackendError",
        "DistNetworkError",
        "SignalException",
        "ChildFailedError",
    ) or is_waiting(f"{name}: {exception.message}")


def _root_cause(lines: Sequence[Line]) -> tuple[int, int] | None:
    """The rank and exit code that the elastic agent saw fail first."""
    child = None
    for at, line in enumerate(lines):
        if _ROOT not in line.text:
            if child is None and (match := _CHILD.search(line.text[:1000])):
                child = int(match[2]), int(match[1])
            continue
        rank, code = None, 0
        for following in lines[at + 1 : at + 9]:
            if match := _ROOT_RANK.match(following.text):
                rank = int(match[1])
            elif match := _ROOT_CODE.match(following.text):
                code = int(match[1])
        return (rank, code) if rank is not None else child
    return child


def _origin(
    failed: list[tuple[str, int, int]],
    root: tuple[int, int] | None,
    sequences: dict[int, int],
    silent: int | None,
) -> int | None:
    if failed:
        own = {rank for _, _, rank in failed}
        # The agent saw the order of exits; a rank that aborted because it waited exits early as well.
        if root and root[0] in own and root[1] not in (-6,):
            return root[0]
        timed = all(time for time, _, _ in failed)
        return min(failed, key=lambda entry: (entry[0] if timed else "", entry[1]))[2]
    if root and root[1] not in _BY_LAUNCHER:
        return root[0]
    if silent is None and len(set(sequences.values())) > 1:
        # Who is far behind in the count of collectives holds up the rest.
        return min(sequences, key=lambda rank: sequences[rank])
    return root[0] if root and silent is None and root[0] not in sequences else None


def _missing(
    named: Iterable[int], waited: dict[int, int], sequences: dict[int, int], world: int | None
) -> int | None:
    if not sequences or world is None or world > 4096:
        return None
    missing = set(range(world)) - set(waited) - set(sequences)
    return missing.pop() if len(missing) == 1 else None
