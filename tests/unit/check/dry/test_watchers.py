"""Each watcher finds its fault at its line, and none finds anything in programs that are right."""

from __future__ import annotations

import pytest

from tests.unit.check.dry.dry_folder import told_of, written
from tests.unit.check.dry.healthy_programs import HEALTHY
from tests.unit.check.dry.programs import FAULTY, HEAD


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    programs = {name: HEAD + text for name, text in (FAULTY | HEALTHY).items()}
    return told_of(written(tmp_path_factory.mktemp("dry"), programs))


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_found_at_its_line(told, name: str) -> None:
    lines = (HEAD + FAULTY[name]).splitlines()
    at = next(n for n, line in enumerate(lines, 1) if "# found " in line)
    slug = lines[at - 1].rpartition("# found ")[2]
    found = [(e["slug"], e["place"][1], e["category"]) for e in told[name] if e["kind"] == "finding"]
    assert found == [(slug, at, "critical")]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_right_program_is_run_to_its_end_and_nothing_is_said(told, name: str) -> None:
    assert [e for e in told[name] if e["kind"] == "finding"] == []
    assert told[name][-1]["outcome"] == "finished", told[name]
    assert told[name][-1]["steps"] >= 2


def test_no_watcher_failed(told) -> None:
    assert [e["text"] for events in told.values() for e in events if "failed" in e.get("text", "")] == []


def test_memory_is_told_by_phase(told) -> None:
    notes = [e["text"] for e in told["computed_again"] if e["kind"] == "note"]
    said = next(n for n in notes if n.startswith("memory on the device"))
    for word in ("of parameters", "kept for backward", "in forward", "in backward", "in step"):
        assert word in said


def test_lines_that_are_in_order_are_told(told) -> None:
    judged = {e["slug"] for e in told["computed_again"] if e["kind"] == "judged"}
    assert {"missing-zero-grad", "scaler-missing", "detached-loss", "accumulation-not-divided"} <= judged
