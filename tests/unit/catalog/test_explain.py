"""`firstcause explain` for every entry of the catalogue."""

from __future__ import annotations

import argparse

import pytest

from firstcause.catalog import load
from firstcause.catalog.defects import load_defects
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.specialists import ROUTES
from firstcause.check.pages import titles
from firstcause.cli import explain
from firstcause.errors import InputError


def page(capsys: pytest.CaptureFixture[str], slug: str | None) -> str:
    assert explain.main(argparse.Namespace(slug=slug)) == 0
    return capsys.readouterr().out


def test_every_entry_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    for slug in [*load(), *load_patterns(), *ROUTES, *load_defects()]:
        lines = page(capsys, slug).splitlines()
        assert slug in lines[0], slug
        # The examples of a rule that has a cause's name are code, and stay as they are.
        prose = [line for line in lines if not line.startswith("    ")]
        assert max(map(len, prose)) <= 80 or "http" in max(prose, key=len), slug


def test_a_name_of_a_cause_and_a_pattern_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    both = set(load()) & set(load_patterns())
    assert "target-out-of-range" in both
    text = page(capsys, "target-out-of-range")
    assert "Mechanism" in text
    assert "Wordings" in text
    assert text.index("Mechanism") < text.index("Wordings")


def test_pages_say_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "4 of 6: resources" in page(capsys, "cuda-oom")
    assert "Do NOT" in page(capsys, "nccl-timeout")
    assert "torch ==1.12.0" in page(capsys, "torch-adam-step-on-cuda")
    specialist = page(capsys, "data-loading")
    assert "nan-in-data" in specialist
    assert "dataloader-shm" in specialist
    assert "overengineering" in page(capsys, "dry-debugging")


def test_without_a_slug_everything_is_listed_by_group(capsys: pytest.CaptureFixture[str]) -> None:
    lines = page(capsys, None).splitlines()
    groups = [
        lines.index(name) for name in ("causes", "patterns", "specialists", "known defects", "rules of check")
    ]
    assert groups == sorted(groups)
    entries = len(load()) + len(load_patterns()) + len(ROUTES) + len(load_defects()) + len(titles())
    assert len(lines) == entries + len(groups) + len(groups) - 1


def test_unknown_entry_names_the_nearest() -> None:
    with pytest.raises(InputError) as raised:
        explain.main(argparse.Namespace(slug="data-loadin"))
    assert (raised.value.slug, raised.value.hint) == ("entry-unknown", "firstcause explain data-loading")
