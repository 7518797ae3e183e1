from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.source.launch import LaunchFile, launches
from firstcause.source.project import Project


def read(text):
    return LaunchFile("run.sh", "run.sh", text.encode()).launches


def value(nodes):
    return [n.value if isinstance(n, ast.Constant) else None for n in nodes]


@pytest.mark.parametrize(
    ("text", "launcher", "script", "options"),
    [
        ("python train.py --lr 1e-4 --bf16 --name=x", "python", "train.py", {"lr": [1e-4], "bf16": [True], "name": ["x"]}),
        ("CUDA_VISIBLE_DEVICES=0 nohup python3 -u src/train.py --seeds 1 2 3 > log 2>&1 &", "python", "src/train.py", {"seeds": [1, 2, 3]}),
        ("srun torchrun --nproc_per_node=8 train.py --per-device 4", "torchrun", "train.py", {"per_device": [4]}),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py", "torchrun", "train.py", {}),
        ("accelerate launch --config_file a.yaml train.py --x '1 2'", "accelerate", "train.py", {"x": ["1 2"]}),
        ("deepspeed --num_gpus 4 train.py --deepspeed ds.json", "deepspeed", "train.py", {"deepspeed": ["ds.json"]}),
        ("python -m pkg.train --lr=$LR", "python", "pkg.train", {"lr": [None]}),
        ("export LR=3\nA=${B:-7}\nif true; then\n  python train.py --lr ${LR} --a $A --b \"$LR$A\"\nfi", "python", "train.py", {"lr": [3], "a": [7], "b": [37]}),
    ],
)  # fmt: skip
def test_a_launch_is_read(text, launcher, script, options):
    (launch,) = read(text)
    assert (launch.launcher, launch.script) == (launcher, script)
    assert {k: value(v) for k, v in launch.options.items()} == options


@pytest.mark.parametrize(
    "text", ["", "# python train.py", "echo train.py", "pip install x.py", "vim train.py", "cat <<EOF\nEOF"]
)
def test_what_starts_no_program_is_none(text):
    assert read(text) == []


def test_overrides_and_lines():
    (launch,) = read("#!/bin/bash\n\npython train.py \\\n  optim.lr=0.1 +new=a \\\n  model=big\n")
    assert {k: (n.value, n.lineno) for k, n in launch.overrides.items()} == {
        "optim.lr": (0.1, 4),
        "new": ("a", 4),
        "model": ("big", 5),
    }
    assert launch.line == 3


def test_only_the_projects_own_programs_count(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "train.py").write_text("")
    (tmp_path / "jobs" / "a.sh").write_text("python train.py\npython ../train.py\npython other.py\n")
    (tmp_path / "jobs" / "b.slurm").symlink_to(tmp_path / "jobs" / "b.slurm")
    project = Project(str(tmp_path), ["train.py"])
    assert [x.line for x in launches(project)] == [1, 2]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="python train.-=$\"'{}\\\n;|&<>()#a1", max_size=60))
def test_any_script_is_read(text):
    for launch in read(f"{text}\npython train.py --a 1"):
        assert launch.line >= 1
