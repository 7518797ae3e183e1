"""The record inside a report: packed small enough to be sent, and unpacked again without trust."""

from __future__ import annotations

import base64
import binascii
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator

from firstcause.case import CaseFolder
from firstcause.errors import InputError, RecordError
from firstcause.record import checked, journal, private
from firstcause.record.blocks import frames_of, journals_of
from firstcause.record.folder import HOME, RunFolder
from firstcause.record.kept_looks import FILES
from firstcause.view.page import RECORD
from firstcause.view.redaction import Redaction

# Rows of a journal that stay however little room there is.
_FEWEST = 32
_LARGEST = 2 << 30
_CASE_FILES = ("history.jsonl", "head", "retrospective.md")
_NAME = re.compile(r"(?:runs|cases)(?:/(?!\.)[\w.+-]+){2,3}")
_BLOCK = re.compile(rf'<script type="{re.escape(RECORD)}" id="record">\s*([A-Za-z0-9+/=\s]*?)\s*</script>')


def packed(
    run: RunFolder | None,
    cases: list[CaseFolder],
    redaction: Redaction,
    room: int | None,
    sources: bool = True,
) -> bytes:
    """The record as .tar.gz of at most about ``room`` bytes (None: whatever it takes), without data and weights.

    Where it would be larger, of each journal every second, fourth … row is kept, and then no text of source files.
    """
    rest = dict(_case_files(cases, redaction))
    journals = journals_of(run) if run is not None else []
    if run is not None:
        rest.update(_run_files(run, redaction, sources))
    # Figures hardly shrink: half is what gzip leaves of the best of them.
    every = 1 if room is None else max(1, sum(map(os.path.getsize, journals)) // (2 * room))
    while True:
        parts = dict(rest)
        counts = []
        for path in journals:
            content, kept, rows = _journal(path, every, redaction)
            folder, name = path.split(os.sep)[-2:]
            parts[f"runs/{folder}/{name}"] = content
            counts.append((name, kept, rows))
        made = _archive(parts)
        if room is None or len(made) <= room:
            break
        if any(kept > _FEWEST for _, kept, _ in counts):
            every *= 2
        elif any("/sources/" in name for name in rest):
            redaction.leave("the text of source files: no room")
            rest = {name: content for name, content in rest.items() if "/sources/" not in name}
        else:
            break
    for name, kept, rows in counts:
        if kept < rows:
            redaction.leave(
                f"{name}: {rows - kept} of {rows} rows, every {every}th is kept (--full keeps all)"
            )
    return made


def unpack(page: str, target: str) -> list[str]:
    """Write the record that a report holds below ``target``/.firstcause, and give the names of its runs and cases.

    Raises ``InputError`` where the text is no report or ``target`` has records, ``RecordError`` where it is damaged.
    """
    found = _BLOCK.search(page)
    if found is None:
        message = "the file holds no record: it is no report of firstcause, or was saved again by a browser"
        raise InputError("report-foreign", message, "give the file that `firstcause report` wrote")
    home = os.path.join(os.path.abspath(target), HOME)
    if os.path.exists(home):
        raise InputError("report-target", f"{home} is there already", "name another folder with -o")
    try:
        raw = base64.b64decode(found[1], validate=False)
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as archive:
            names = _extract(archive, home)
    except (binascii.Error, tarfile.TarError, EOFError, zlib.error, OSError) as error:
        message = f"the record in the report cannot be read: {error}"
        raise RecordError("report-damaged", message, "get the file again") from error
    return sorted({"/".join(name.split("/")[:2]) for name in names})


def _extract(archive: tarfile.TarFile, home: str) -> list[str]:
    names, total = [], 0
    for member in archive:
        total += member.size
        # What comes from elsewhere names no link, no device and no folder but a run's or a case's.
        if not member.isfile() or not _NAME.fullmatch(member.name) or total > _LARGEST:
            raise tarfile.TarError(f"{member.name[:80]!r} does not belong into a record")
        file = archive.extractfile(member)
        assert file is not None
        path = os.path.join(home, *member.name.split("/"))
        private.make_folder(os.path.dirname(path))
        with open(path, "xb", opener=private.opener) as out:
            out.write(file.read())
        names.append(member.name)
    return names


def _archive(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in sorted(parts.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), private.FILE
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def _run_files(folder: RunFolder, redaction: Redaction, sources: bool) -> Iterator[tuple[str, bytes]]:
    top = f"runs/{os.path.basename(folder.path)}"
    said = folder.read_json("run.json")
    if isinstance(said.get("environment"), dict) and said["environment"].pop("variables", None):
        redaction.leave("values of environment variables")
    inside = {
        digest
        for path, digest in (said.get("sources") or {}).items()
        if not os.path.relpath(os.path.join(said["folder"], path), said["folder"]).startswith("..")
    }
    yield f"{top}/run.json", checked.dumps(redaction.value(said)).encode()
    for name in FILES:
        if (kept := folder.read_json(name)) is not None:
            yield f"{top}/{name}", checked.dumps(redaction.value(kept)).encode()
    for name in sorted(os.listdir(folder.path)):
        path = folder.file(name)
        if not os.path.isdir(path):
            continue
        if name not in ("failures", "sources"):
            if name == "snapshots":
                redaction.leave("batches and weights (snapshots)")
            continue
        for part in sorted(os.listdir(path)):
            if name == "failures" and part.endswith(".json"):
                facts = redaction.without_rows(folder.read_json("failures", part))
                yield f"{top}/failures/{part}", checked.dumps(redaction.value(facts)).encode()
            elif name == "sources" and not sources:
                redaction.leave("the text of source files: --without sources")
            elif name == "sources" and part not in inside:
                redaction.leave("the text of files outside of the project")
            elif name == "sources":
                with open(os.path.join(path, part), encoding="utf-8", errors="surrogateescape") as file:
                    text = redaction.text(file.read())
                yield f"{top}/sources/{part}", text.encode("utf-8", "surrogateescape")


def _case_files(cases: list[CaseFolder], redaction: Redaction) -> Iterator[tuple[str, bytes]]:
    for folder in cases:
        found = [(name, folder.file(name)) for name in _CASE_FILES if os.path.isfile(folder.file(name))]
        contents = {}
        for name, path in found:
            with open(path, "rb") as file:
                contents[name] = file.read()
        # Its lines are chained by their digests: one that is changed would be damage.
        if any(redaction.mentions_home(content) for content in contents.values()):
            redaction.leave(f"the history of case {folder.id}: it names the home folder")
            continue
        yield from ((f"cases/{folder.id}/{name}", content) for name, content in contents.items())


def _journal(path: str, every: int, redaction: Redaction) -> tuple[bytes, int, int]:
    """A journal's frames with every so manieth row, how many rows that are, and how many there were."""
    parts: list[bytes] = []
    kept = rows = 0
    for _, kind, number, payload in frames_of(path):
        if kind == journal.METRICS:
            rows += 1
            if (rows - 1) % every:
                continue
            kept += 1
        elif kind == journal.EVENT:
            payload = json.dumps(redaction.value(json.loads(payload))).encode()
        check = zlib.crc32(payload, kind | number << 8)
        parts.append(journal.HEADER.pack(journal.MAGIC, kind, number, len(payload), check) + payload)
    return b"".join(parts), kept, rows
