"""Real trainings of libraries, with a fault and without: the cause and its line, and nothing where nothing is wrong."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of

PROGRAMS = Path(__file__).parent / "programs"
EMBEDDING, TARGET = "embedding-index-out-of-range", "target-out-of-range"
# program: (library, cause, the text of the line to fix)
FAULTY = {
    "trl_sft": ("trl", EMBEDDING, "vocab_size=len(words),"),
    "trl_dpo_rate": ("trl", "learning-rate-too-high", "learning_rate=30.0,"),
    "trainer_added_tokens": ("transformers", EMBEDDING, "vocab_size=tokenizer.vocab_size,"),
    "trainer_two_classes": ("datasets", TARGET, "model = DistilBertForSequenceClassification("),
    "trainer_all_masked": ("transformers", "all-targets-ignored", "labels[:prompt] = -100"),
    "peft_lora": ("peft", "params-missing-from-optimizer", "optimizer = torch.optim.AdamW("),
    "accelerate_softmax": (
        "accelerate",
        "softmax-before-cross-entropy",
        "torch.softmax(model(inputs), dim=1)",
    ),
    "deepspeed_zero1": ("deepspeed", "log-of-zero", "shares * torch.log(shares)"),
    "lightning_losses_kept": ("lightning", "loss-history-keeps-graph", "self.losses.append(loss)"),
    "timm_classes": ("timm", TARGET, 'timm.create_model("test_vit2"'),
    "callback_trainer": ("transformers", "log-of-zero", "-torch.log(share"),
}
HEALTHY = {
    "trl_sft_healthy": "trl",
    "trl_dpo_healthy": "trl",
    "peft_lora_healthy": "peft",
    "peft_trainer_healthy": "peft",
    "lightning_healthy": "lightning",
    "accelerate_healthy": "accelerate",
    "timm_healthy": "timm",
    "deepspeed_healthy": "deepspeed",
}


def firstcause(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", *words],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def diagnosed(tmp_path: Path, name: str, library: str) -> dict[str, object]:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    shutil.copy(PROGRAMS / f"{name}.py", tmp_path / "train.py")
    if name.startswith("callback_"):
        # A training that records itself: the command is a plain one.
        subprocess.run(
            [sys.executable, "train.py"], cwd=tmp_path, capture_output=True, timeout=600, check=False
        )
    else:
        firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "diagnose", "last", "--yes", "--json", "found.json")
    found: dict[str, object] = json.loads((tmp_path / "found.json").read_text())
    found["said"] = done.stdout
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAULTY))
def test_a_fault_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    library, cause, text = FAULTY[name]
    found = diagnosed(tmp_path, name, library)
    assert found["cause"] == cause, found["said"]
    site = found["site"]
    assert isinstance(site, dict)
    lines = (tmp_path / "train.py").read_text().splitlines()
    assert text in lines[site["line"] - 1], found["said"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HEALTHY))
def test_a_healthy_training_gets_no_cause(name: str, tmp_path: Path) -> None:
    found = diagnosed(tmp_path, name, HEALTHY[name])
    assert found["status"] == "healthy", found["said"]


@pytest.mark.slow
def test_lightnings_callback_records_each_step(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, "callback_lightning", "lightning")
    assert found["status"] == "healthy", found["said"]
    (run,) = (tmp_path / ".firstcause" / "runs").iterdir()
    steps = list(steps_of(RunFolder(str(run)).journals().values()))
    assert len(steps) == 8
    assert all(row["loss"] is not None and row["grad_norm"] is not None for row in steps)
