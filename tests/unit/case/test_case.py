from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import FIXED, PROGRAM, diagnosis, unified
from firstcause.case import (
    CaseFolder,
    Verification,
    all_cases,
    apply,
    approval_code,
    approve,
    close,
    diagnosis_hash,
    diff_hash,
    find_case,
    fold,
    next_step,
    open_case,
    questions,
    reject,
    require_ready,
    verify,
)
from firstcause.case.event import Event
from firstcause.case.history import HISTORY, read
from firstcause.errors import GateError, InputError, RecordError
from firstcause.schema import SECTIONS, Diagnosis

YES = {"symptom": "y", "scope": "t", "side-effect": "y"}


def opened(root: str, stored: Diagnosis | None = None) -> CaseFolder:
    case = open_case(root, "r1", os.path.join(root, "runs", "r1"), stored or diagnosis())
    return find_case(root, case.id)


def approved(folder: CaseFolder) -> None:
    shown = folder.progress().case.diagnosis
    assert shown is not None
    approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)


def events(folder: CaseFolder) -> list[str]:
    return [event.event for event in read(folder.path).events]


def test_whole_way(root: str) -> None:
    cwd = os.path.dirname(root)
    folder = opened(root)
    assert events(folder) == ["opened", "characterised", "hypotheses", "diagnosed"]
    assert folder.id.split("-")[2] == "nan"
    assert next_step(folder.progress()) == "firstcause case approve"
    assert folder.run_folder() == os.path.join(root, "runs", "r1")
    approved(folder)
    applied = apply(folder, cwd, ["data.py"]).applied
    assert applied is not None
    assert set(applied.sources) == {"data.py", "train.py"}
    assert applied.files["train.py"].after == applied.sources["train.py"] != applied.files["train.py"].before
    assert Path(cwd, "train.py").read_text() == FIXED
    assert Path(folder.path, "patch-1.diff").read_text() == unified({"train.py": (PROGRAM, FIXED)})
    result = Verification(True, "the loss of 200 steps is finite, last 0.0017", {"last": float("inf")})
    assert verify(folder, cwd, lambda: result)[1].case.state == "verified"
    assert close(folder, "1 - 1e-8 is 1.0 in float32").case.state == "closed"
    text = Path(folder.path, "retrospective.md").read_text()
    for part in ("Fixed and verified: the loss of 200 steps is finite", "## Refuted alternatives",
                 "- learning-rate-too-high (refuted): counterfactual, against:", "+    p = torch.sigmoid",
                 "log-of-zero, ranked first of 3; then confirmed.", "## Lesson\n\n1 - 1e-8 is 1.0"):  # fmt: skip
        assert part in text
    with pytest.raises(RecordError, match="has no open case"):
        find_case(root)


def test_not_established_stays_at_hypotheses(root: str) -> None:
    folder = opened(root, diagnosis(status="not-established", cause=None, missing="the range of step 118"))
    assert events(folder) == ["opened", "characterised", "hypotheses"]
    with pytest.raises(GateError):
        approved(folder)
    bare = diagnosis(status="not-established", cause=None, sections={"Symptom": "nan"}, fix=None)
    with pytest.raises(GateError, match="is hypotheses: approved has no place there"):
        approved(opened(root, bare))
    assert next_step(folder.progress()) == "firstcause diagnose .firstcause/runs/r1"


def test_cases_are_kept_out_of_git(tmp_path: Path) -> None:
    root = tmp_path / ".firstcause"
    open_case(str(root), "r1", str(tmp_path / "run"), diagnosis())
    assert (root / ".gitignore").read_text() == "*\n"


def test_a_case_is_for_its_owner_alone(root: str) -> None:
    folder = opened(root)
    approved(folder)
    apply(folder, os.path.dirname(root))
    verify(folder, os.path.dirname(root), lambda: Verification(True, "fine"))
    close(folder, "measure")
    modes = {p.name: p.stat().st_mode & 0o777 for p in Path(folder.path).iterdir()}
    assert {
        "history.jsonl",
        "head",
        "lock",
        "patch-1.diff",
        "probe-1.py",
        "probe-1.json",
        "retrospective.md",
    } <= set(modes)
    assert set(modes.values()) == {0o600}
    for path in (Path(folder.path), Path(folder.path).parent):
        assert path.stat().st_mode & 0o777 == 0o700


def test_healthy_run_opens_no_case(root: str) -> None:
    with pytest.raises(InputError):
        opened(root, diagnosis(status="healthy", cause=None))
    assert all_cases(root) == []


def test_run_keeps_its_case(root: str) -> None:
    first = opened(root)
    before = events(first)
    assert opened(root).id == first.id
    assert events(first) == before
    other = diagnosis("nan-in-data")
    assert opened(root, other).id == first.id
    assert events(first) == [*before, "hypotheses", "diagnosed"]
    assert first.progress().case.diagnosis == other
    assert open_case(root, "r2", "elsewhere", diagnosis()).id != first.id


def test_new_diagnosis_voids_the_approval(root: str) -> None:
    folder = opened(root)
    approved(folder)
    opened(root, diagnosis("nan-in-data"))
    with pytest.raises(GateError, match="no approval is waiting"):
        apply(folder, os.path.dirname(root))
    assert Path(root, "..", "train.py").read_text() == PROGRAM


@pytest.mark.parametrize("section", SECTIONS)
def test_gate_wants_all_six_sections(root: str, section: str) -> None:
    sections = {**diagnosis().sections, section: " \n"}
    folder = opened(root, diagnosis(sections=sections))
    with pytest.raises(GateError) as raised:
        approved(folder)
    assert raised.value.slug == "sections-missing"
    assert section in raised.value.message


def test_gate_names_the_missing_evidence() -> None:
    for shown, said in (
        (None, "no cause is established yet"),
        (diagnosis(status="not-established"), "no cause is established yet"),
        (diagnosis(status="not-established", missing="the range"), "no cause is established yet: the range"),
    ):
        with pytest.raises(GateError) as raised:
            require_ready(shown)
        assert raised.value.message == said


def test_gate_wants_a_patch_that_can_be_read(root: str) -> None:
    with pytest.raises(GateError, match="no patch is proposed"):
        approved(opened(root, diagnosis(fix=None)))
    with pytest.raises(InputError) as raised:
        approved(opened(root, diagnosis(diff="change line 5")))
    assert raised.value.slug == "diff-invalid"
    with pytest.raises(InputError):
        require_ready(diagnosis(diff="change line 5"))


def test_approval_is_for_these_hashes_and_answers(root: str) -> None:
    folder, shown = opened(root), diagnosis()
    good = (diagnosis_hash(shown), diff_hash(shown))
    for hashes in (("0" * 64, good[1]), (good[0], "0" * 64), (good[1], good[0])):
        with pytest.raises(GateError, match="not the one that was shown"):
            approve(folder, *hashes, "tester", YES)
    for key in YES:
        with pytest.raises(GateError, match="not approved"):
            approve(folder, *good, "tester", {**YES, key: "n"})
        with pytest.raises(GateError, match="no answer to"):
            approve(folder, *good, "tester", {k: v for k, v in YES.items() if k != key})
    assert events(folder)[-1] == "diagnosed"
    approve(folder, *good, "tester", YES)
    with pytest.raises(GateError, match="has no place there"):
        approve(folder, *good, "tester", YES)


def test_hashes_see_every_part() -> None:
    base = diagnosis()
    changed = [
        replace(base, missing="x"),
        replace(base, sections={**base.sections, "Symptom": "x"}),
        replace(base, hypotheses=base.hypotheses[:2]),
        diagnosis(diff=unified({"train.py": (PROGRAM, PROGRAM + "\n")})),
    ]
    assert len({diagnosis_hash(d) for d in [base, *changed]}) == 5
    assert diff_hash(base) != diff_hash(changed[3])
    codes = {approval_code(d, nonce) for d in [base, *changed] for nonce in ("a", "b")}
    assert len(codes) == 10
    assert all(
        len(code) == 6 and code.isalnum() and code.isupper() for code in codes - {c.lower() for c in codes}
    )


def test_questions_speak_of_this_case() -> None:
    symptom, scope, side_effect = questions(diagnosis())
    assert "the loss became nan at step 118 (train.py:6)" in symptom.text
    assert "lines removed 1, added 1, in train.py" in scope.text
    assert "sample 17 keeps a logit of 30.0." in scope.text
    assert "bounded by 13.8" in side_effect.text


def test_rejection_is_evidence_and_no_strike(root: str) -> None:
    folder = opened(root)
    progress = reject(folder, "the loss was nan before step 118 too", "ada")
    assert (progress.case.state, progress.case.strikes) == ("hypotheses", 0)
    after = progress.case.diagnosis
    assert after is not None
    assert (after.status, after.cause, after.site) == ("not-established", None, None)
    mine = next(h for h in after.hypotheses if h.cause == "log-of-zero")
    assert mine.status == "inconclusive"
    assert mine.evidence[-1].text == "ada rejected it: the loss was nan before step 118 too"
    assert opened(root).progress().case.state == "diagnosed"


def test_changed_source_voids_the_verification(root: str) -> None:
    cwd = Path(root).parent
    folder = opened(root)
    approved(folder)
    apply(folder, str(cwd), ["data.py"])
    data = (cwd / "data.py").read_bytes()
    (cwd / "data.py").write_bytes(b"SEED = 2\n")
    with pytest.raises(GateError, match=r"data\.py changed since the fix was approved"):
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))
    assert (events(folder)[-1], folder.progress().case.state) == ("voided", "fixed")
    (cwd / "data.py").write_bytes(data)

    def meddling() -> Verification:
        (cwd / "train.py").write_bytes(b"pass\n")
        return Verification(True, "fine")

    with pytest.raises(GateError, match=r"train\.py changed"):
        verify(folder, str(cwd), meddling)
    assert folder.progress().case.state == "fixed"


def test_patch_for_a_changed_file_changes_nothing(root: str) -> None:
    cwd = Path(root).parent
    old = {"data.py": ("SEED = 1\n", "SEED = 3\n"), "train.py": (PROGRAM, FIXED)}
    folder = opened(root, diagnosis(diff=unified(old)))
    approved(folder)
    (cwd / "train.py").write_text(PROGRAM.replace("1 - 1e-8", "1 - 1e-7"))
    with pytest.raises(InputError) as raised:
        apply(folder, str(cwd))
    assert raised.value.slug == "patch-mismatch"
    assert (cwd / "data.py").read_text() == "SEED = 1\n"
    assert events(folder)[-1] == "approved"
    (cwd / "train.py").write_text(PROGRAM)
    apply(folder, str(cwd))
    assert (cwd / "data.py").read_text() == "SEED = 3\n"


CRASH = """
import os, signal, sys
from firstcause.case import CaseFolder, apply
replace, calls = os.replace, []
def dying(source, destination):
    if len(calls) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    calls.append(destination)
    replace(source, destination)
os.replace = dying
apply(CaseFolder(sys.argv[1]), sys.argv[2], ["data.py"])
"""


@pytest.mark.parametrize("after", [0, 1])
def test_apply_killed_half_way_is_finished_by_the_next(root: str, after: int) -> None:
    cwd = Path(root).parent
    both = {"data.py": ("SEED = 1\n", "SEED = 3\n"), "train.py": (PROGRAM, FIXED)}
    folder = opened(root, diagnosis(diff=unified(both)))
    approved(folder)
    command = [sys.executable, "-c", CRASH, folder.path, str(cwd), str(after)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert (cwd / "train.py").read_text() == PROGRAM
    assert (cwd / "data.py").read_text() == ("SEED = 3\n" if after else "SEED = 1\n")
    assert opened(root, diagnosis("nan-in-data")).progress().case.state == "approved"
    assert apply(folder, str(cwd)).case.state == "fixed"
    assert (cwd / "data.py").read_text() == "SEED = 3\n"
    assert (cwd / "train.py").read_text() == FIXED
    assert events(folder)[-2:] == ["applying", "applied"]


def test_damaged_case_does_not_hide_the_others(root: str) -> None:
    bad = opened(root)
    path = Path(bad.path, HISTORY)
    path.write_bytes(path.read_bytes().replace(b"log-of-zero", b"log-of-zoro"))
    good = opened(root)
    assert good.id != bad.id
    assert {folder.id for folder in all_cases(root)} == {good.id, bad.id}
    with pytest.raises(RecordError):
        bad.progress()


def test_case_that_died_before_its_first_line_is_none(root: str) -> None:
    for name, content in (("20990101-000000-nan-0000", b""), ("20990101-000000-nan-0001", b'{"seq":0')):
        folder = Path(root, "cases", name)
        folder.mkdir(parents=True)
        (folder / HISTORY).write_bytes(content)
    Path(root, "cases", "20990101-000000-nan-0002").mkdir()
    assert all_cases(root) == []


def test_case_is_found_by_the_beginning_of_its_id(root: str) -> None:
    folder = opened(root)
    open_case(root, "r2", "elsewhere", diagnosis())
    assert find_case(root, folder.id[:-1]).id == folder.id
    assert find_case(root, folder.path).id == folder.id
    with pytest.raises(RecordError) as raised:
        find_case(root, folder.id[:4])
    assert raised.value.slug == "case-ambiguous"
    with pytest.raises(RecordError) as raised:
        find_case(root, "nothing")
    assert raised.value.slug == "case-missing"


def test_history_by_another_hand_is_refused(root: str) -> None:
    lines = read(opened(root).path).events
    forged = Event(4, lines[-1].time, "applied", {"sources": {}})
    with pytest.raises(RecordError) as raised:
        fold([*lines, forged])
    assert raised.value.slug == "case-damaged"
    with pytest.raises(RecordError, match="begins with 'opened'"):
        fold(lines[1:])
    later = replace(lines[0], data={**lines[0].data, "schema": 3})
    with pytest.raises(
        RecordError, match="of version 3, and this firstcause reads up to version 2"
    ) as raised:
        fold([later])
    assert raised.value.slug == "case-version"
    for nonsense in (0, "2", None):
        with pytest.raises(RecordError, match="states no version"):
            fold([replace(lines[0], data={**lines[0].data, "schema": nonsense})])
    with pytest.raises(RecordError, match="no event"):
        fold([])


def test_history_is_plain_json(root: str) -> None:
    lines = Path(opened(root).path, HISTORY).read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == [
        "opened",
        "characterised",
        "hypotheses",
        "diagnosed",
    ]
