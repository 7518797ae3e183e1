"""A case begins with a text, and the run that shows what the text tells of goes on with it."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import diagnosis
from case.test_case import events, opened
from case.test_opening import recorded
from firstcause.case import (
    approve,
    diagnosis_hash,
    diff_hash,
    find_case,
    next_step,
    open_case,
    readable_cases,
)
from firstcause.case.from_text import LARGEST, TEXT, open_from_text
from firstcause.case.symptoms import alike
from firstcause.catalog.patterns import load_patterns
from firstcause.diagnose.from_text import KIND_OF, diagnosis_of
from firstcause.errors import InputError
from firstcause.schema import Diagnosis, Symptom
from firstcause.triage.conclude import conclude
from firstcause.triage.read import read

NAN = "my loss is nan from step 118 on, before that it was 0.02. loss=nan\n"
SHAPES = """\
Traceback (most recent call last):
  File "/home/ada/work/train.py", line 12, in <module>
    loss = model(x).mean()
  File "/opt/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x16 and 12x1)
"""


def of_text(text: str) -> Diagnosis:
    reading = read(io.BytesIO(text.encode()))
    found = diagnosis_of(reading, conclude(reading))
    assert found is not None
    return found


def from_text(root: str, text: str) -> str:
    content = text.encode()
    return open_from_text(root, content[: LARGEST + 1], read(io.BytesIO(content))).id


def test_a_text_is_suspicions_and_no_cause() -> None:
    found = of_text(SHAPES)
    assert (found.status, found.cause) == ("not-established", None)
    assert found.symptom is not None
    assert found.symptom.message.startswith("RuntimeError: mat1 and mat2")
    assert found.symptom.site is not None
    assert (found.symptom.site.file, found.symptom.site.line) == ("/home/ada/work/train.py", 12)
    assert found.hypotheses[0].cause == "flatten-linear-mismatch"
    assert {h.status for h in found.hypotheses} == {"open"}
    assert all("For it: " in h.missing and "Against it: " in h.missing for h in found.hypotheses)


@pytest.mark.parametrize("text", ["what is the best optimizer?", "it crashes, why?", "step 1 loss 0.4\n"])
def test_a_text_without_a_symptom_begins_no_case(text: str) -> None:
    reading = read(io.BytesIO(text.encode()))
    assert diagnosis_of(reading, conclude(reading)) is None


def test_kinds_are_those_of_known_patterns() -> None:
    assert set(KIND_OF) <= set(load_patterns())


def test_one_text_is_one_case_and_lies_in_its_folder(root: str) -> None:
    first = from_text(root, NAN)
    assert from_text(root, NAN) == first
    assert from_text(root, SHAPES) != first
    folder = find_case(root, first)
    assert Path(folder.file(TEXT)).read_text() == NAN
    assert next_step(folder.progress()).startswith("firstcause run COMMAND")
    assert folder.progress().case.run == ""


def test_the_run_that_shows_it_goes_on_with_the_case(root: str) -> None:
    begun = from_text(root, NAN)
    case = opened(root)
    assert case.id == begun
    progress = case.progress()
    assert (progress.case.run, progress.case.state) == ("r1", "diagnosed")
    assert events(case) == [
        "opened",
        "characterised",
        "hypotheses",
        "continued",
        "hypotheses",
        "diagnosed",
    ]
    # What is worked on is what the run showed, not what the text said of it.
    assert progress.first is not None
    assert progress.first.symptom == diagnosis().symptom
    assert [t.symptom for t in progress.symptoms] == [diagnosis().symptom]
    known = progress.case.diagnosis
    assert known is not None
    approve(
        case,
        diagnosis_hash(known),
        diff_hash(known),
        "ada",
        {"symptom": "y", "scope": "t", "side-effect": "y"},
    )
    assert case.progress().case.state == "approved"


def test_another_failure_leaves_it_alone(root: str) -> None:
    begun = from_text(root, SHAPES)
    assert opened(root).id != begun
    other = replace(diagnosis(), symptom=Symptom("exception", "IndexError: index out of range in self"))
    folder = recorded(root, "r2")
    assert open_case(root, "r2", folder, other).id != begun
    same = replace(
        diagnosis(),
        symptom=Symptom(
            "exception", "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x16 and 12x1)"
        ),
    )
    assert open_case(root, "r3", recorded(root, "r3"), same).id == begun
    assert len(list(readable_cases(root))) == 3


def test_of_silent_failures_the_suspected_one_is_taken(root: str) -> None:
    begun = from_text(
        root, "The loss does not go down at all, it stays at 2.30 for 5000 steps. What can I do?\n"
    )
    suspected = find_case(root, begun).progress().case.diagnosis
    assert suspected is not None
    causes = [h.cause for h in suspected.hypotheses]
    silent = Symptom("invariant", "the gradients of 4 parameters are never cleared")
    other = replace(diagnosis("clip-before-unscale"), symptom=silent)
    assert "clip-before-unscale" not in causes
    assert open_case(root, "r2", recorded(root, "r2"), other).id != begun
    meant = replace(diagnosis(causes[0]), symptom=silent)
    assert open_case(root, "r3", recorded(root, "r3"), meant).id == begun


@pytest.mark.parametrize(
    ("told", "seen", "expected"),
    [
        ("torch.OutOfMemoryError: tried 20 MiB", "OutOfMemoryError: tried 24 MiB", True),
        ("ValueError: a", "TypeError: a", False),
        ("ValueError: a\nmore", "ValueError: a", True),
    ],
)
def test_errors_are_alike_by_type_and_first_line(told: str, seen: str, expected: bool) -> None:
    assert alike(Symptom("exception", told), Symptom("exception", seen)) is expected
    assert not alike(Symptom("nan", told), Symptom("exception", seen))


def test_of_a_long_log_and_of_an_archive_the_telling_lines_are_kept(root: str, tmp_path: Path) -> None:
    long = "step 1 | loss 0.5 | 3.1 it/s\n" * 50_000 + SHAPES
    kept = Path(find_case(root, from_text(root, long)).file(TEXT)).read_text()
    assert "50006: RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x16 and 12x1)\n" in kept
    assert len(kept) < 1000
    archive = tmp_path / "log.gz"
    archive.write_bytes(gzip.compress(SHAPES.encode()))
    case = open_from_text(root, archive.read_bytes(), read(str(archive)))
    assert Path(find_case(root, case.id).file(TEXT)).read_text().startswith("6: RuntimeError: mat1 and")


def test_no_secret_is_kept(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_AbCdEfGh1234567890")
    case = from_text(root, f"login with hf_AbCdEfGh1234567890\n{SHAPES}")
    assert "hf_AbCdEfGh1234567890" not in Path(find_case(root, case).file(TEXT)).read_text()


def test_a_text_without_symptom_is_refused_with_what_is_missing(root: str) -> None:
    with pytest.raises(InputError) as refused:
        from_text(root, "it crashes, why?")
    assert refused.value.slug == "no-symptom"
    assert refused.value.hint
