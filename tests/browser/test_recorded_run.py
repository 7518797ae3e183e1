"""A run that firstcause itself recorded and diagnosed: what its commands say is what the page says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from firstcause.record.folder import find_run
from firstcause.record.journal import steps_of

DEMO = Path(__file__).parents[2] / "demo" / "nan"


def firstcause(cwd: Path, *words: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "firstcause", *words]
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_a_run_from_the_command_to_the_file(tmp_path: Path, window: Callable) -> None:
    shutil.copy(DEMO / "train.py", tmp_path)
    firstcause(tmp_path, "run", sys.executable, "train.py")
    firstcause(tmp_path, "diagnose", "last", "--yes")
    case = json.loads(firstcause(tmp_path, "case", "show", "--json", "-"))
    firstcause(tmp_path, "report", "last", "-o", "out.html")
    steps = steps_of(find_run("last", str(tmp_path)).journals().values())
    finite = [step["loss"] for step in steps if step["loss"] == step["loss"]]
    bad = len(steps) - len(finite)
    assert bad > 0
    seen = window(offline=True)
    seen.page.goto((tmp_path / "out.html").as_uri())
    expect(seen.page.locator("#head")).to_contain_text(f"{len(steps)} steps")
    loss = seen.page.locator("section.plot", has_text="Loss").locator("canvas").first
    expect(loss).to_have_attribute(
        "aria-label", f"Loss by step. rank 0: last {float(f'{finite[-1]:.4g}')}, not finite in {bad} places"
    )
    expect(seen.page.locator("table.births tbody tr").first).to_contain_text("log → -inf")
    seen.page.get_by_role("link", name=case["id"]).click()
    site = case["diagnosis"]["site"]
    expect(seen.page.locator("#cause")).to_have_text(
        f"{case['diagnosis']['cause']} at {site['file']}:{site['line']}"
    )
    expect(seen.page.locator("#source .here")).to_contain_text(site["text"])
    expect(seen.page.locator("#hypotheses details")).to_have_count(len(case["diagnosis"]["hypotheses"]))
    expect(seen.page.locator("#history tr")).to_have_count(4)
    assert seen.said == []
