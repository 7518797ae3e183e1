"""A fresh interpreter that is sealed before the program's first line, and patches what is imported afterwards."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import textwrap

import pytest
from sealed_program import environment

START = """
import os, sys
answer = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600)
before = set(sys.modules)
from firstcause.sandbox import seal, writers
report = seal.seal(sys.argv[1], frozenset((answer,)))
loaded = set(sys.modules) - before
import importlib.abc, importlib.machinery, json
patches = writers.patches()
class Patching(importlib.abc.Loader):
    def __init__(self, loader, patch):
        self.loader, self.patch = loader, patch
    def create_module(self, spec):
        return self.loader.create_module(spec)
    def exec_module(self, module):
        self.loader.exec_module(module)
        self.patch(module)
    def __getattr__(self, name):
        return getattr(self.loader, name)
class Finder:
    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name in patches else None
        if spec is not None:
            spec.loader = Patching(spec.loader, patches[name])
        return spec
sys.meta_path.insert(0, Finder())
seen = {"kernel": report.kernel, "reason": report.reason, "loaded": sorted(loaded)}
"""


def start(
    tmp_path, folder, program: str, before: str = ""
) -> tuple[dict[str, object], subprocess.CompletedProcess[str]]:
    script, answer = tmp_path / "start.py", tmp_path / "answer"
    finish = "\nos.write(answer, json.dumps(seen).encode())\n"
    script.write_text(before + START + textwrap.dedent(program) + finish)
    then = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "scratch"), str(answer)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == then
    text = answer.read_text()
    assert text, f"it ended early: {done.returncode}"
    return json.loads(text), done


def test_the_seal_loads_little(tmp_path, folder):
    seen, done = start(tmp_path, folder, "print('unheard')")
    heavy = {
        "torch",
        "numpy",
        "sqlite3",
        "subprocess",
        "multiprocessing",
        "logging",
        "socket",
        "urllib",
        "asyncio",
        "tempfile",
    }
    assert not heavy.intersection(seen["loaded"])
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_libraries_that_are_imported_later(tmp_path, folder):
    seen, _ = start(
        tmp_path,
        folder,
        """
        import torch, numpy as np, sqlite3, subprocess, multiprocessing, time
        from safetensors.torch import load_file, save_file
        torch.set_num_threads(1)
        torch.save({"w": torch.ones(2)}, "model.pt")
        seen["torch"] = torch.load("model.pt")["w"].tolist()
        save_file({"t": torch.arange(2)}, "t.safetensors")
        seen["safetensors"] = load_file("t.safetensors")["t"].tolist()
        np.savetxt("text.txt", np.arange(2))
        seen["numpy"] = np.loadtxt("text.txt").tolist()
        database = sqlite3.connect("log.db")
        database.execute("create table t (a)")
        seen["sqlite"] = os.path.exists("log.db")
        time.sleep(1000)
        from firstcause.errors import SealError
        seen["refused"] = []
        for way in (lambda: subprocess.run(["ls"]), lambda: multiprocessing.get_context("spawn").Process().start()):
            try:
                way()
            except SealError as error:
                seen["refused"].append(error.slug)
        seen["net"] = (torch.nn.Linear(2, 1)(torch.ones(1, 2)).shape)
        """,
    )
    assert (seen["torch"], seen["safetensors"], seen["numpy"], seen["sqlite"]) == (
        [1.0, 1.0],
        [0, 1],
        [0.0, 1.0],
        True,
    )
    assert seen["refused"] == ["seal-process"] * 2
    assert seen["net"] == [1, 1]


def test_other_threads_are_outside_of_the_kernels_seal(tmp_path, folder):
    """Then it says so, and Python's half holds alone."""
    seen, _ = start(
        tmp_path,
        folder,
        """
        import posix
        with open("a.txt", "a") as file:
            file.write("beta\\n")
        seen["own"] = open("a.txt").read()
        try:
            posix.unlink("a.txt")
        except Exception as error:
            seen["refused"] = error.slug
        """,
        before="import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n",
    )
    assert not seen["kernel"]
    assert (
        seen["reason"]
        == "sealed in Python only: 1 other threads were running, and Landlock binds only the one that asks"
    )
    assert seen["own"] == "alpha\nbeta\n"
    assert seen["refused"] == "seal-write"


def test_libraries_are_found_without_a_process(tmp_path, folder):
    import ctypes.util

    names = ("c", "m", "dl", "pthread", "no-such-library")
    seen, done = start(
        tmp_path,
        folder,
        f"""
        import ctypes.util
        from ctypes.util import find_library
        from firstcause.sandbox import refusal
        seen["found"] = [find_library(name) for name in {names!r}]
        seen["refused"] = len(refusal.refused())
        """,
    )
    assert done.returncode == 0, done.stderr
    assert seen["found"] == [ctypes.util.find_library(name) for name in names]
    assert seen["found"][0] is not None
    assert seen["refused"] == 0
