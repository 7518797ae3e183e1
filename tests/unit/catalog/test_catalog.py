from __future__ import annotations

import copy
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstcause.catalog import CAUSES, SPECIALISTS, cause, load, slugs
from firstcause.catalog.advice import wrong_advice
from firstcause.catalog.load import read
from firstcause.catalog.validate import KEYS, LISTS, NAMES, OPTIONAL, checkout, faults, validate
from firstcause.errors import InputError, KnowledgeError

GOOD = {slug: read(str(Path(CAUSES) / f"{slug}.toml")) for slug in slugs()}
a_slug = st.sampled_from(sorted(GOOD))
a_key = st.sampled_from([k for k in KEYS if k not in OPTIONAL])


def test_shipped_catalogue_is_valid() -> None:
    assert validate(root=checkout()) == []


def test_every_cause_loads_under_its_slug() -> None:
    causes = load()
    assert {"log-of-zero", "sqrt-backward-at-zero", "target-out-of-range"} <= set(causes)
    assert all(entry.slug == slug and entry.specialist in SPECIALISTS for slug, entry in causes.items())
    assert not any("\n" in entry.mechanism or "  " in entry.fix for entry in causes.values())


def test_each_file_is_read_when_it_is_asked_for() -> None:
    assert cause("log-of-zero") is cause("log-of-zero")


def test_unknown_slug_names_the_nearest() -> None:
    with pytest.raises(InputError) as raised:
        cause("log-of-zer")
    assert raised.value.hint == "firstcause explain log-of-zero"
    with pytest.raises(InputError):
        cause("../causes/log-of-zero")


@given(a_slug, a_key)
def test_dropping_any_key_is_noticed(slug: str, key: str) -> None:
    values = copy.deepcopy(GOOD[slug])
    del values[key]
    assert f"missing key {key!r}" in faults(values, slug)


@given(a_slug, a_key, st.text(st.characters(categories=("Ll",)), min_size=1))
def test_renaming_any_key_is_noticed(slug: str, key: str, extra: str) -> None:
    values = copy.deepcopy(GOOD[slug])
    values[key + extra] = values.pop(key)
    assert {f"missing key {key!r}", f"unknown key {key + extra!r}"} <= set(faults(values, slug))


@given(a_slug, a_key, st.sampled_from([None, 3, True, "", " ", [], {}, [1], [""], 0.5]))
def test_another_kind_of_value_is_noticed(slug: str, key: str, value: object) -> None:
    values = {**copy.deepcopy(GOOD[slug]), key: value}
    assert any(fault.startswith(key) or repr(key) in fault for fault in faults(values, slug))


@given(a_slug, st.data())
def test_missing_full_stop_is_noticed(slug: str, data: st.DataObject) -> None:
    values = copy.deepcopy(GOOD[slug])
    key = data.draw(st.sampled_from([k for k in KEYS if k not in NAMES]))
    if key in LISTS:
        at = data.draw(st.integers(0, len(values[key]) - 1))
        values[key][at] = values[key][at].rstrip(".")
        key = f"{key}[{at}]"
    else:
        values[key] = values[key].rstrip(".")
    (fault,) = faults(values, slug)
    assert fault.startswith(f"{key} ends without a full stop")


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("slug", "Log_Of_Zero", "slug 'Log_Of_Zero' is not the file's name 'log-of-zero'"),
        ("specialist", "oracle", "unknown specialist 'oracle'"),
        ("title", "A title.", "title ends with a full stop"),
        ("symptoms", ["Twice.", "Twice."], "symptoms says the same twice"),
        ("proof", "http://example.org/x", "proof 'http://example.org/x' is neither"),
        ("proof", "tests/../setup.py", "proof 'tests/../setup.py' is neither"),
        ("proof", "tests/unit/no_such_test.py::test_x", "proof 'tests/unit/no_such_test.py' does not exist"),
    ],
)
def test_faulty_meaning_is_named(key: str, value: object, fault: str) -> None:
    found = faults({**GOOD["log-of-zero"], key: value}, "log-of-zero", checkout())
    assert any(one.startswith(fault) for one in found)


def test_test_of_this_project_is_a_proof() -> None:
    values = {**GOOD["log-of-zero"], "proof": "tests/unit/catalog/test_claims.py::test_claims"}
    assert faults(values, "log-of-zero", checkout()) == []


@pytest.mark.parametrize(
    "fix",
    [
        "Clamp the ids into the range of the table.",
        "The labels can be clamped to the number of classes.",
        "Wrap the step in try and except, and go on.",
        "Call torch.cuda.empty_cache() after each step.",
        "Pass retain_graph=True to backward.",
        "Load it with strict=False.",
        "Lower the learning rate and clip the gradients.",
        "Set num_workers=0.",
        "Call torch.nan_to_num on the batch.",
    ],
)
def test_advice_known_to_be_wrong_is_refused(fix: str) -> None:
    assert len(wrong_advice(fix)) == 1
    (fault,) = faults({**GOOD["log-of-zero"], "fix": fix}, "log-of-zero")
    assert fault.startswith("fix gives advice known to be wrong")


@pytest.mark.parametrize("fix", ["Clamping the ids is no fix.", "Keep x above 0: x.clamp_min(1e-12).sqrt()."])
def test_warning_and_harmless_clamps_pass(fix: str) -> None:
    assert wrong_advice(fix) == []


def test_command_prints_one_line_a_fault(tmp_path: Path) -> None:
    shutil.copytree(CAUSES, tmp_path / "causes")
    file = tmp_path / "causes" / "log-of-zero.toml"
    file.write_text(
        re.sub(r'specialist = "[^"]+"', 'specialist = "oracle"', file.read_text()) + "\nextra = 1\n"
    )
    (tmp_path / "causes" / "torn.toml").write_text('slug = "torn\n')
    command = [sys.executable, "-m", "firstcause.catalog.validate"]
    broken = subprocess.run([*command, str(tmp_path / "causes")], capture_output=True, text=True, check=False)
    assert broken.returncode == 1, broken.stderr
    first, second, third = broken.stdout.splitlines()
    assert (first, second) == (
        "log-of-zero.toml: unknown key 'extra'",
        "log-of-zero.toml: unknown specialist 'oracle'",
    )
    assert third.startswith("torn.toml: ")
    good = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (good.returncode, good.stdout) == (0, "")


def test_unreadable_file_is_a_knowledge_error(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(KnowledgeError):
        read(str(tmp_path / "x.toml"))
