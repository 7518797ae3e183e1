"""The one file: what it holds, what it does not, and the record that comes out of it again."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import re
import tarfile
from pathlib import Path

import pytest

from firstcause.case import all_cases
from firstcause.errors import InputError, RecordError
from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal, read
from firstcause.view import reporting
from firstcause.view.packing import unpack
from firstcause.view.page import RECORD, one_file
from firstcause.view.project import Project
from view.projects import STEPS, opened, recorded


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="text/plain" id="data">\n(.*)\n</script>', page)
    assert found
    data: dict[str, object] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return data


def packed(**members: bytes) -> str:
    """A report whose record is an archive of these members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return one_file([{"kind": "run", "id": "x"}], [], out.getvalue(), "x")


def test_the_record_comes_out_as_it_went_in(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    case = opened(tmp_path)
    page = reporting.report(Project(str(tmp_path)), run)
    target = tmp_path / "elsewhere"
    assert unpack(page, str(target)) == [f"cases/{case.id}", "runs/r1"]
    again = RunFolder(str(target / ".firstcause" / "runs" / "r1"))
    assert again.run().symptoms == run.run().symptoms
    failures = run.failures()
    failures[0]["replay"]["trace"]["batch_rows"] = []
    assert again.failures() == failures
    assert "the rows of the failing batch" in data_of(page)["left_out"]
    assert "61.5" not in json.dumps(data_of(page))
    before, after = read(run.file("rank-0-100.journal")), read(again.file("rank-0-100.journal"))
    assert repr(after) == repr(before)
    (copy,) = all_cases(str(target / ".firstcause"))
    assert copy.progress() == case.progress()
    assert os.stat(again.file("run.json")).st_mode & 0o777 == 0o600
    with pytest.raises(InputError) as refused:
        unpack(page, str(target))
    assert refused.value.slug == "report-target"


def test_a_file_of_a_run_shows_its_cases_too_and_loads_nothing(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    case = opened(tmp_path)
    page = reporting.report(Project(str(tmp_path)), run)
    assert [p["kind"] for p in data_of(page)["pages"]] == ["run", "case"]  # type: ignore[attr-defined]
    first = reporting.report(Project(str(tmp_path)), case)
    assert [p["kind"] for p in data_of(first)["pages"]] == ["case", "run"]  # type: ignore[attr-defined]
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert "https:" not in page
    assert "http:" not in page
    assert "unsafe" not in page


def test_a_long_run_is_thinned_to_fit_and_says_so(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    journal = Journal(run.file("rank-1-7.journal"))
    columns = tuple(f"grad_norm/p{n}" for n in range(60))
    noise = os.urandom(1 << 16)
    for step in range(6000):
        at = step * 7 % 60_000
        journal.metrics(step, columns, [noise[at + n] * 1.0001 ** (noise[at - n]) for n in range(60)])
    page = reporting.report(Project(str(tmp_path)), run)
    assert len(page.encode()) <= reporting.LIMIT
    left = data_of(page)["left_out"]
    assert any(re.match(r"rank-1-7.journal: \d+ of 6000 rows", line) for line in left)  # type: ignore[attr-defined]
    unpack(page, str(tmp_path / "thin"))
    kept = read(str(tmp_path / "thin" / ".firstcause" / "runs" / "r1" / "rank-1-7.journal")).rows
    assert 32 <= len(kept) < 6000
    assert {row.step % (kept[1].step - kept[0].step) for row in kept} == {0}
    full = reporting.report(Project(str(tmp_path)), run, full=True)
    unpack(full, str(tmp_path / "full"))
    assert len(read(str(tmp_path / "full" / ".firstcause" / "runs" / "r1" / "rank-1-7.journal")).rows) == 6000
    assert (
        len(read(str(tmp_path / "full" / ".firstcause" / "runs" / "r1" / "rank-0-100.journal")).rows) == STEPS
    )


def test_home_secrets_data_and_foreign_sources_stay_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded(tmp_path)
    home = str(tmp_path / "home" / "ada")
    monkeypatch.setenv("HOME", home)
    secret = "hf_" + "Ab3dE6gH" * 4
    plain = json.loads(Path(run.file("run.json")).read_text())
    plain["command"] = ["python", f"{home}/train.py", f"--key={secret}"]
    plain["environment"] = {"variables": {"WHERE": "an-unlikely-value"}, "hardware": {"cpus": 2}}
    plain["sources"] = {"train.py": "1" * 64, "/opt/other/lib.py": "2" * 64}
    Path(run.file("run.json")).write_text(json.dumps(plain))
    for digest, text in (("1" * 64, f"HERE = '{home}'\n"), ("2" * 64, "FOREIGN = 1\n")):
        Path(run.file("sources")).mkdir(exist_ok=True)
        Path(run.file("sources", digest)).write_text(text)
    Path(run.file("snapshots")).mkdir()
    Path(run.file("snapshots", "state.pt")).write_bytes(b"weights")
    Journal(run.file("rank-0-100.journal")).event("note", text=f"of {home}")
    page = reporting.report(Project(str(tmp_path)), run)
    unpack(page, str(tmp_path / "out"))
    everything = json.dumps(data_of(page)) + "".join(
        path.read_bytes().decode("latin-1") for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    for hidden in (home, secret, "an-unlikely-value", "FOREIGN", "weights\n"):
        assert hidden not in everything
    assert "HERE = '~'" in everything
    left = "\n".join(data_of(page)["left_out"])  # type: ignore[arg-type]
    for said in ("environment variables", "outside of the project", "batches and weights", "replaced by ~"):
        assert said in left
    bare = reporting.report(Project(str(tmp_path)), run, sources=False)
    unpack(bare, str(tmp_path / "bare"))
    assert not (tmp_path / "bare" / ".firstcause" / "runs" / "r1" / "sources").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/x",
        "runs/../../x",
        "runs/r1/../../../x",
        "runs/r1",
        "other/r1/x",
        "runs/.x/y",
        "runs/a/b/c/d",
    ],
)
def test_nothing_is_written_outside_of_the_record(tmp_path: Path, name: str) -> None:
    target = tmp_path / "deep" / "target"
    with pytest.raises(RecordError) as refused:
        unpack(packed(**{name: b"x"}), str(target))
    assert refused.value.slug == "report-damaged"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_link_in_a_record_is_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        entry = tarfile.TarInfo("runs/r1/run.json")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(RecordError):
        unpack(one_file([{"kind": "run", "id": "x"}], [], out.getvalue(), "x"), str(tmp_path / "t"))


@pytest.mark.parametrize("record", ["", "AAAA", "!!!!"])
def test_a_damaged_record_says_so(tmp_path: Path, record: str) -> None:
    page = f'<script type="{RECORD}" id="record">\n{record}\n</script>'
    with pytest.raises((RecordError, InputError)):
        unpack(page, str(tmp_path / "t"))
    with pytest.raises(InputError) as foreign:
        unpack("<p>another page</p>", str(tmp_path / "t"))
    assert foreign.value.slug == "report-foreign"


def test_a_title_does_not_end_its_element() -> None:
    page = one_file([{"kind": "run", "id": "x"}], [], b"", "</title><script>alert(1)</script>")
    assert "<script>alert" not in page
