"""The wheel: the same bytes from the same sources, all of the package and nothing else, and at home in an empty environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from trainings import LOG_OF_ZERO

ROOT = Path(__file__).resolve().parents[2]
# What torch needs to be imported; borrowed from the environment of the tests, since it is large.
TORCH = (
    "torch",
    "torchgen",
    "functorch",
    "numpy",
    "numpy.libs",
    "typing_extensions.py",
    "sympy",
    "mpmath",
    "networkx",
)
TORCH += ("jinja2", "markupsafe", "fsspec", "filelock", "setuptools")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    return built(tmp_path_factory.mktemp("one"))


def built(folder: Path) -> Path:
    """The wheel of a copy of the sources that lies in ``folder`` and was written just now."""
    sources = folder / "sources"
    leave = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(ROOT / "src", sources / "src", ignore=leave, copy_function=shutil.copyfile)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copyfile(ROOT / name, sources / name)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(words, cwd=sources, env=environment, check=True, capture_output=True, timeout=300)
    return next((folder / "dist").glob("*.whl"))


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    again = built(tmp_path / "another" / "place")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_it_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        times = {entry.date_time for entry in archive.infolist()}
    own = [p.relative_to(ROOT / "src") for p in (ROOT / "src").rglob("*") if p.is_file()]
    assert names == {str(p) for p in own if not any(part.startswith((".", "__pyc")) for part in p.parts)}
    assert len(times) == 1


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    python = folder / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", str(wheel)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip(f"no index of packages is reached: {done.stderr[-200:]}")
    return python


@pytest.mark.slow
def test_without_torch(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOG_OF_ZERO)
    (tmp_path / "error.log").write_text("RuntimeError: CUDA error: device-side assert triggered\n")
    listed = subprocess.run(
        [installed, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True
    )
    names = {line.split("==")[0].lower() for line in listed.stdout.split()}
    assert names <= {"firstcause", "pyyaml", "tomli", "pip", "setuptools"}
    for words, code, said in (
        (["--version"], 0, "firstcause "),
        (["triage", "error.log"], 0, "device-side"),
        (["check", "train.py"], 0, ""),
        (["explain", "log-of-zero"], 0, "Logarithm"),
        (["doctor"], 1, "torch"),
        (["run", "python", "train.py"], 1, "No module named 'torch'"),
        (["diagnose", "last"], 3, "torch"),
    ):
        done = typed(installed, tmp_path, *words)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        assert said in done.stdout + done.stderr


@pytest.mark.slow
def test_with_torch(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOG_OF_ZERO)
    torch = tmp_path / "torch"
    torch.mkdir()
    import torch as ours

    packages = Path(ours.__file__).parents[1]
    for name in TORCH:
        if (packages / name).exists():
            (torch / name).symlink_to(packages / name)
    environment = {"PYTHONPATH": str(torch)}
    recorded = typed(installed, tmp_path, "run", "python", "train.py", **environment)
    assert recorded.returncode == 0, recorded.stderr
    diagnosed = typed(installed, tmp_path, "diagnose", "last", **environment)
    assert diagnosed.returncode == 0, diagnosed.stderr
    assert "log-of-zero at train.py:9" in diagnosed.stdout


def typed(python: Path, folder: Path, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
    plain = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FIRSTCAUSE", "PYTEST", "VIRTUAL"))
    }
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        [python.parent / "firstcause", *words],
        cwd=folder,
        env={**plain, "PATH": path, "OMP_NUM_THREADS": "1", **extra},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
