"""Long logs: what is read of them, how lines and hits are counted, and archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firstcause.errors import InputError
from firstcause.triage import engines, scan
from firstcause.triage.read import read

OOM = b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 1.00 GiB already allocated; 0 bytes free; 2.00 GiB cached)"
TEXT = OOM + b"\n"


@pytest.mark.parametrize("seed", range(12))
def test_regions_and_counts_are_those_of_the_text(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for name, value in {
        "BLOCK": 50_000,
        "SHORT": 20_000,
        "TAIL": 3000,
        "HEAD": 1000,
        "BEFORE": 200,
        "AFTER": 400,
    }.items():
        monkeypatch.setattr(scan, name, value)
    monkeypatch.setattr(scan, "TRACEBACK", 1000)
    monkeypatch.setattr(engines, "FEW", rng.choice([100, 1 << 17]))
    monkeypatch.setattr(engines, "SHAPES", rng.choice([50, 100_000]))
    often = rng.choice([0.001, 0.3])
    lines = []
    for at in range(rng.randrange(2000, 6000)):
        word = b"a needle of abcdef 123 here" if rng.random() < often else b"x" * rng.randrange(80)
        lines.append(
            b"line %d " % at
            + word
            + (b"z" * 4000 if rng.random() < 0.01 else b"")
            + (b" Error: y" if rng.random() < 0.01 else b"")
        )
    data = b"\n".join(lines) + b"\n" * rng.randrange(2)
    step = rng.randrange(100, 9000)
    found = scan.scanned(
        (data[at : at + step] for at in range(0, len(data), step)), [b"needle of abcdef 123"]
    )
    assert (found.size, found.lines) == (len(data), len(lines))
    for literal in (b"needle of abcdef 123", b"Error: "):
        assert found.counts[literal] == data.count(literal)
        assert any(literal in region.data for region in found.regions)
    end = -1
    for region in found.regions:
        assert data[region.offset :].startswith(region.data)
        assert region.offset > end
        assert region.first == 1 + data.count(b"\n", 0, region.offset)
        end = region.offset + len(region.data) - 1


def test_the_needle_in_a_long_log_has_its_line_and_count(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    with path.open("wb") as file:
        for at in range(60_000):
            file.write(b"step %d loss 0.5\n" % at)
            if at in (20_000, 40_000) or 50_000 <= at < 52_000:
                file.write(TEXT)
    found = read(str(path))
    seen = next(one for one in found.seen if one.pattern == "cuda-oom")
    assert (seen.line, seen.count) == (20_002, 2002)
    assert (found.lines, found.size) == (62_002, path.stat().st_size)
    assert found.facts["gib"]["tried"] == "2.00 GiB"
    assert found.prose == ""


def tarred(data: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as packed:
        for rank in (4, 5):
            info = tarfile.TarInfo(f"logs/rank_{rank}.log")
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    return held.getvalue()


def zipped(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("image.bin", b"\0\1\2" * 100)
        packed.writestr("logs/rank_4.log", data)
    return held.getvalue()


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress, zipped, tarred, lambda data: gzip.compress(zipped(data))],
)
def test_a_packed_log_reads_like_a_plain_one(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "train.log.packed"
    path.write_bytes(pack(TEXT))
    found = read(str(path))
    assert found.seen[0].pattern == "cuda-oom"
    assert found.raised[0].exception == "RuntimeError"
    assert found.raised[0].rank == (
        4 if pack in (zipped, tarred) or b"PK" in pack(TEXT)[:2] else found.raised[0].rank
    )
    assert read(io.BytesIO(pack(TEXT))).seen[0].text == found.seen[0].text


def test_utf_16_of_a_windows_shell() -> None:
    assert read(io.BytesIO(TEXT.decode().encode("utf-16"))).seen[0].pattern == "cuda-oom"


def test_what_grows_without_bound_ends_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstcause.triage.archives.AT_LEAST", 1 << 20)
    monkeypatch.setattr("firstcause.triage.archives.GROWTH", 10)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(TEXT + b"loss 1.0\n" * 3_000_000))
    found = read(str(path))
    assert found.size == 1 << 20
    assert any("grows too much" in note for note in found.notes)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_archive_gives_what_came_before(pack: Callable[[bytes], bytes]) -> None:
    whole = pack(TEXT * 5 + random.Random(0).randbytes(400_000).hex().encode())
    cut = io.BytesIO(whole[: len(whole) * 2 // 3])
    if pack is bz2.compress and len(whole) < 900_000:
        # bzip2 gives nothing of a block that is not whole.
        with pytest.raises(InputError, match="damaged"):
            read(cut)
        return
    found = read(cut)
    assert found.seen[0].pattern == "cuda-oom"
    assert any("damaged" in note for note in found.notes)


def nested() -> Iterator[tuple[str, bytes, str]]:
    packed = TEXT
    for _ in range(5):
        packed = gzip.compress(packed)
    yield "triage-nested", packed, "packed more than"
    yield "triage-empty", b"", "is empty"
    yield "triage-empty", gzip.compress(b""), "is empty"
    yield (
        "triage-binary",
        random.Random(0).randbytes(1000).replace(b"\x80", b"\1") + b"\0" * 4000,
        "is no text",
    )
    yield "triage-binary", zipped(b"\0" * 100), "is no text"
    yield "triage-unreadable", zipped(TEXT)[:90], "cannot be unpacked"


# Names of their own: packed data hold the second in which they were packed, and two workers may differ in that.
NAMES = ("nested", "empty", "empty-packed", "bytes", "bytes-packed", "cut")


@pytest.mark.parametrize(("slug", "data", "words"), list(nested()), ids=NAMES)
def test_what_cannot_be_read_gets_one_clear_line(slug: str, data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(io.BytesIO(data))
    assert caught.value.slug == slug
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read(str(tmp_path))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read(str(tmp_path / "a\x1b[2J.log"))


def test_a_zip_file_larger_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstcause.triage.archives.CHUNK", 100)
    assert read(io.BytesIO(zipped(TEXT))).seen[0].pattern == "cuda-oom"
