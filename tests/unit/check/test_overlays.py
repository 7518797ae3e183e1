"""A command line that is laid over a config file: what a launch gives wins, what none gives may still be given."""

from __future__ import annotations

import pytest

from firstcause.check.code import Code
from firstcause.check.facts import facts
from firstcause.source.project import Project

TRAIN = """
import argparse
import torch
import yaml

def settings():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float{default})
    parser.add_argument("--wd", type=float)
    args = parser.parse_args()
    with open("base.yaml") as file:
        cfg = yaml.safe_load(file)
    {lay}
    return cfg

cfg = settings()
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"], weight_decay=cfg["wd"])
"""
GETATTR = """for name in {keys}:
        if getattr(args, name) is not None:
            cfg[name] = getattr(args, name)"""
ITEMS = """for name, value in vars(args).items():
        if value is not None:
            cfg[name] = value"""
DIRECT = """if args.lr is not None:
        cfg["lr"] = args.lr"""


def read(folder, lay, launch="", default=""):
    (folder / "train.py").write_text(TRAIN.format(lay=lay, default=default))
    (folder / "base.yaml").write_text("lr: 0.1\nwd: 0.01\n")
    if launch:
        (folder / "run.sh").write_text(launch)
    known = facts(Code(Project(str(folder), ["train.py"])))
    return {
        f.key: (f.value, str(f.site), f.sure) for f in known if f.key in ("learning_rate", "weight_decay")
    }


@pytest.mark.parametrize("lay", [GETATTR.format(keys='("lr", "wd")'), ITEMS, DIRECT])
def test_what_a_launch_gives_wins(tmp_path, lay):
    found = read(tmp_path, lay, "python train.py --lr 0.4\n")
    assert found["learning_rate"] == (0.4, "run.sh:1", True)


@pytest.mark.parametrize("lay", [GETATTR.format(keys='("lr", "wd")'), ITEMS])
def test_what_no_launch_gives_is_the_files_and_may_be_given(tmp_path, lay):
    assert read(tmp_path, lay)["learning_rate"] == (0.1, "base.yaml:1", False)
    assert read(tmp_path, lay, "python train.py --lr 0.4\n")["weight_decay"] == (0.01, "base.yaml:2", False)


def test_an_options_own_default_is_laid_over_too(tmp_path):
    found = read(tmp_path, GETATTR.format(keys='("lr",)'), default=", default=0.2")
    assert found["learning_rate"] == (0.2, "train.py:8", False)


def test_a_key_that_the_loop_does_not_go_through_stays_the_files(tmp_path):
    found = read(tmp_path, GETATTR.format(keys='("lr",)'), "python train.py --wd 0.5\n")
    assert found["weight_decay"] == (0.01, "base.yaml:2", True)
