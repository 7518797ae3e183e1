"""Flight-recorder dumps of torch.distributed: which collective each rank is in, and which rank is behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.installed import is_installed
from firstcause.schema.triage import Seen
from firstcause.triage.lines import cleaned
from firstcause.triage.pickles import PickleError, loads

MOST = 256 << 20
# Of a rank's last collectives, the newest few hundred tell where it stands.
ENTRIES = 4096


@dataclass(frozen=True)
class Call:
    """A collective as a rank recorded it: its place in the group's order, what it is, how far it came, who called it."""

    group: str
    sequence: int
    name: str
    state: str
    sizes: str = ""
    caller: str = ""


@dataclass(frozen=True)
class Dump:
    """One rank's last calls, and how far each process group came: enqueued, started, completed."""

    rank: int | None
    calls: tuple[Call, ...]
    status: dict[str, tuple[int, int, int]]
    library: str = ""


def looks_like_dump(head: bytes) -> bool:
    """Whether a file begins as a pickle or as the JSON of a dump does."""
    return (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05") or (
        head.lstrip()[:1] == b"{"
        and (b'"entries"' in head or b'"pg_config"' in head or b'"comm_lib_version"' in head)
    )


def dump_in(data: bytes, rank: int | None) -> Dump:
    """The dump in the bytes of a file; raises ``PickleError`` where they hold none."""
    if data[:1] == b"\x80":
        values = loads(data)
    else:
        try:
            values = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise PickleError(f"no JSON: {error}") from None
    if not isinstance(values, dict) or not isinstance(values.get("entries"), list | tuple):
        raise PickleError("it has no list of entries")
    calls = tuple(_call(entry) for entry in values["entries"][-ENTRIES:] if isinstance(entry, dict))
    status = values.get("pg_status")
    groups = {}
    for name, of in status.items() if isinstance(status, dict) else ():
        if isinstance(of, dict):
            groups[str(name)[:80]] = (_int(of, "enqueued"), _int(of, "started"), _int(of, "completed"))
    own = values.get("rank")
    library = values.get("nccl_version") or values.get("comm_lib_version") or ""
    return Dump(own if isinstance(own, int) else rank, calls, groups, cleaned(str(library)[:40]))


def _int(values: dict[Any, Any], which: str) -> int:
    value = values.get(f"last_{which}_collective", -1)
    return value if isinstance(value, int) else -1


def _call(entry: dict[Any, Any]) -> Call:
    group = entry.get("process_group")
    name = group[0] if isinstance(group, list | tuple) and group else entry.get("pg_id", "")
    sequence = entry.get("collective_seq_id", entry.get("seq_id", -1))
    frames = entry.get("frames")
    caller = ""
    for frame in frames if isinstance(frames, list | tuple) else ():
        file = str(frame.get("filename", "")) if isinstance(frame, dict) else ""
        if file and "/torch/" not in file and not is_installed(file):
            caller = cleaned(f"{file[:300]}:{frame.get('line')}")
            break
    op = cleaned(str(entry.get("profiling_name", ""))).rsplit(":", 1)[-1][:60]
    sizes = cleaned(str(entry.get("input_sizes", ""))[:120])
    # Gloo never calls a collective completed; what was retired is done.
    state = "completed" if entry.get("retired") is True else cleaned(str(entry.get("state", ""))[:20])
    return Call(
        cleaned(str(name)[:80]), sequence if isinstance(sequence, int) else -1, op, state, sizes, caller
    )


@dataclass(frozen=True)
class Compared:
    """What the dumps of several ranks say together."""

    lines: tuple[str, ...]
    behind: int | None
    facts: dict[str, Any]
    seen: tuple[Seen, ...]


def compared(dumps: Sequence[Dump]) -> Compared:
    """Where each rank stands, which one is behind, and whether two are in different collectives."""
    standing = {number: _waiting(dump) for number, dump in _numbered(dumps).items()}
    lines = [f"rank {number}: {_told(call)}" for number, call in standing.items()]
    waiting = {number: call for number, call in standing.items() if call is not None}
    behind, seen = None, []
    mixed = _mixed(_numbered(dumps))
    sequences = {number: call.sequence for number, call in waiting.items()}
    if mixed:
        seen.append(Seen("collective-mismatch", 1, mixed))
    elif len(waiting) > 1 and len(set(sequences.values())) > 1:
        behind = min(sequences, key=lambda number: sequences[number])
        least, most = min(sequences.values()), max(sequences.values())
        text = f"rank {behind} is at collective {least} ({waiting[behind].name}), others are at {most}"
        seen.append(Seen("desync", 1, text, rank=behind))
    elif len(dumps) > 1 and len(waiting) < len(standing):
        behind = next(number for number, call in standing.items() if call is None)
        text = f"rank {behind} waits in no collective, {len(waiting)} others do"
        seen.append(Seen("desync", 1, text, rank=behind))
    elif waiting:
        call = next(iter(waiting.values()))
        seen.append(
            Seen("hang", 1, f"collective {call.sequence} ({call.name}) was {call.state} and did not complete")
        )
    facts: dict[str, Any] = {
        "ranks": list(standing),
        "seqs": sorted(set(sequences.values())),
        "op": sorted({call.name for call in waiting.values()}),
        "shapes": sorted({call.sizes for call in waiting.values() if call.sizes}),
        "frames": sorted({call.caller for call in waiting.values() if call.caller}),
        "versions": {"nccl": dumps[0].library} if dumps and dumps[0].library else {},
        "silent_rank": behind,
    }
    return Compared(
        tuple(lines),
        behind,
        {key: value for key, value in facts.items() if value not in ([], {}, None)},
        tuple(seen),
    )


def _numbered(dumps: Sequence[Dump]) -> dict[int, Dump]:
    return {dump.rank if dump.rank is not None else at: dump for at, dump in enumerate(dumps)}


def _waiting(dump: Dump) -> Call | None:
    """The first call that a rank entered and that did not complete."""
    done = {group: completed for group, (_, _, completed) in dump.status.items()}
    for call in dump.calls:
        if call.state != "completed" and call.sequence > done.get(call.group, -1):
            return call
    return None


def _told(call: Call | None) -> str:
    if call is None:
        return "every collective that it entered has completed"
    where = f", called at {call.caller}" if call.caller else ""
    return f"waits in collective {call.sequence} of group {call.group or '0'}, {call.name} {call.sizes} ({call.state}){where}"


def _mixed(dumps: dict[int, Dump]) -> str:
    """A place in the order of a group where two ranks called different things; empty where there is none."""
    first: dict[tuple[str, int], tuple[int, Call]] = {}
    for number, dump in dumps.items():
        for call in dump.calls:
            if call.sequence < 0 or call.name.startswith(("send", "recv")):
                continue
            other, known = first.setdefault((call.group, call.sequence), (number, call))
            if known.name != call.name:
                return (
                    f"collective {call.sequence} is {known.name} {known.sizes} on rank {other} "
                    f"and {call.name} {call.sizes} on rank {number}"
                )
    return ""
