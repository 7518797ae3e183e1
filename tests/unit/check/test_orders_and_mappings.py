"""Splits along time and at random, options that a mapping declares, sums of a shell script, batches that a loop takes."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from firstcause.check.code import Code
from firstcause.check.compliance.compare import compare
from firstcause.check.facts import Fact, facts
from firstcause.schema.instruction import Instruction
from firstcause.schema.site import Site
from firstcause.source.project import Project
from firstcause.source.shell import commands, text_of


def read(folder: Path, files: dict[str, str], *asked: Instruction) -> list[Any]:
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text).lstrip())
    names = [n for n in files if n.endswith(".py")]
    return list(facts(Code(Project(str(folder), names), {}, asked)))


def values(found: list[Any], key: str) -> set[Any]:
    return {f.value for f in found if f.key == key}


BY_TIME = Instruction("data_split", "by_time", "split by time")
NOT_RANDOM = Instruction("data_split", "random", "never at random", polarity="forbid")
SHARE = Instruction("data_split", 0.1, "hold out 10%")
SPLITS = {
    "random": "from torch.utils.data import random_split\ntrain, val = random_split(rows, [900, 100])\n",
    "shuffled": "from sklearn.model_selection import train_test_split\na, b = train_test_split(x, test_size=0.1)\n",
    "in order": "from sklearn.model_selection import train_test_split\na, b = train_test_split(x, test_size=0.1, shuffle=False)\n",
    "at random of the first": (
        "from torch.utils.data import random_split\npast, test = table.iloc[:cut], table.iloc[cut:]\n"
        "train, val = random_split(past, [0.9, 0.1])\n"
    ),
    "at random at last": (
        "import torch\nfrom torch.utils.data import random_split\nmixed = torch.randperm(900)\n"
        "a, b = mixed[:cut], mixed[cut:]\ntrain, val = random_split(a, [0.9, 0.1])\n"
    ),
    "with candidates": (
        "from torch.utils.data import random_split\ntable = table[table['candidates'] > 0]\n"
        "train, val = random_split(table, [0.9, 0.1])\n"
    ),
    "at a date": 'train = frame[frame["day"] < cut]\nval = frame[frame["day"] >= cut]\n',
}


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("random", (BY_TIME,), ["random"]),
        ("random", (BY_TIME, NOT_RANDOM), ["random"]),
        ("random", (SHARE,), []),
        ("at random of the first", (BY_TIME,), []),
        ("at random at last", (BY_TIME,), ["random"]),
        ("with candidates", (BY_TIME,), ["random"]),
        ("shuffled", (NOT_RANDOM,), []),
        ("random", (SHARE, BY_TIME), ["random"]),
        ("shuffled", (BY_TIME,), ["random"]),
        ("shuffled", (SHARE,), []),
        ("in order", (SHARE, BY_TIME), []),
        ("at a date", (BY_TIME, NOT_RANDOM), []),
        ("at a date", (SHARE, BY_TIME), []),
    ],
)
def test_which_rows_are_held_out_is_no_share(
    tmp_path: Path, name: str, asked: tuple[Instruction, ...], told: list[str]
) -> None:
    found = read(tmp_path, {"train.py": SPLITS[name]}, *asked)
    assert [f.got for f in compare(asked, found).findings] == told


def test_a_shuffled_split_of_another_share_is_told_by_its_share(tmp_path: Path) -> None:
    asked = (Instruction("data_split", 0.2, "hold out 20%"), BY_TIME)
    found = read(tmp_path, {"train.py": SPLITS["in order"]}, *asked)
    assert [(f.asked, f.got) for f in compare(asked, found).findings] == [("0.2", "0.1")]


LOOPED = """
    import argparse
    import json
    import torch
    from types import SimpleNamespace

    def settings():
        first = argparse.ArgumentParser(add_help=False)
        first.add_argument("--hparams", default="hparams.json")
        known, rest = first.parse_known_args()
        with open(known.hparams) as handle:
            defaults = json.load(handle)
        second = argparse.ArgumentParser(parents=[first])
        for name, value in defaults.items():
            second.add_argument(f"--{name}", type=type(value), default=value)
        return SimpleNamespace(**vars(second.parse_args(rest)))

    def main(net):
        hp = settings()
        return torch.optim.AdamW(net.parameters(), lr=hp.rate, weight_decay=hp.decay)
"""
SET = """
    import argparse
    import json
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--decay", type=float, default=0.5)
    parser.set_defaults(**json.load(open("hparams.json")))
    args = parser.parse_args()
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=args.decay)
"""


def test_options_declared_in_a_loop_over_a_file(tmp_path: Path) -> None:
    found = read(tmp_path, {"train.py": LOOPED, "hparams.json": '{"rate": 3e-5, "decay": 0.01}'})
    assert (values(found, "learning_rate"), values(found, "weight_decay")) == ({3e-5}, {0.01})


OWN = """
    import argparse
    import torch

    def settings():
        parser = argparse.ArgumentParser()
        other = parser.add_subparsers().add_parser("other")
        group = parser.add_argument_group("rates")
        parser.add_argument("--large", action="store_true")
        {before}
        {group}.add_argument("--rate", type=float, default=1e-3)
        {behind}
        return parser.parse_args()

    def main(net):
        return torch.optim.AdamW(net.parameters(), lr=settings().rate)
"""


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"behind": "parser.set_defaults(rate=1e-4)"}, {1e-4}),
        ({"behind": "parser.set_defaults(rate=1e-4)", "group": "group"}, {1e-4}),
        ({"before": "parser.set_defaults(rate=1e-4)"}, {1e-3}),
        ({"behind": "other.set_defaults(rate=1e-4)"}, {1e-3}),
        ({"behind": "if parser.parse_known_args()[0].large: parser.set_defaults(rate=1e-4)"}, set()),
    ],
)
def test_a_parsers_own_default_is_one_by_its_place(tmp_path: Path, given: dict[str, str], seen: set[float]):
    source = OWN.format(**{"before": "", "behind": "", "group": "parser", **given})
    assert values(read(tmp_path, {"train.py": source}), "learning_rate") == seen


def test_a_parsers_own_defaults_go_before_those_of_its_options(tmp_path: Path) -> None:
    found = read(tmp_path, {"train.py": SET, "hparams.json": '{"rate": 3e-5}'})
    assert (values(found, "learning_rate"), values(found, "weight_decay")) == ({3e-5}, {0.5})


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("N=$((16 * 1024))\nrun $N\n", "16384"),
        ('CARDS=4\nrun "$((64 / (2 * $CARDS)))"\n', "8"),
        ("run $((UNKNOWN * 2))\n", "{}"),
        ("run $((4 / 0))\n", "{}"),
        ("N=0\nN=$((N + 1))\nrun $N\n", "{}"),
    ],
)
def test_sums_of_a_script(script: str, word: str) -> None:
    *_, (_, words) = commands(script)
    assert text_of(words[1]) == word


TAKEN = """
    import itertools
    import torch

    def fit(net, batches, crit, steps, each={each}):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(steps):
            for x, y in itertools.islice(batches, {count}):
                (crit(net(x), y) / 8).backward()
            optimizer.step()
            optimizer.zero_grad()

    fit(net, batches, torch.nn.CrossEntropyLoss(), 100)
"""


def test_the_batches_that_a_loop_takes_are_the_accumulation(tmp_path: Path) -> None:
    found = read(tmp_path, {"train.py": TAKEN.format(each=2, count="16 // each")})
    assert values(found, "gradient_accumulation") == {8}


@pytest.mark.parametrize(
    ("taken", "behind", "only"),
    [
        ("batches", "optimizer.step()", False),
        ("train_loader", "optimizer.step()", False),
        # Each may be a task of several that an outer step is of.
        ("tasks", "optimizer.step()", True),
        ("task_batches", "optimizer.step()", True),
        ("batches", "pass", True),
    ],
)
def test_what_is_taken_is_the_accumulation_where_it_is_batches(
    tmp_path: Path, taken: str, behind: str, only: bool
) -> None:
    source = TAKEN.format(each=2, count="8").replace("batches", taken)
    if behind == "pass":
        source = source.replace(" " * 12 + "optimizer.step()\n", "")
        source = source.replace("            for x", "            optimizer.step()\n            for x")
    found = [f for f in read(tmp_path, {"train.py": source}) if f.key == "gradient_accumulation"]
    assert [(f.value, f.confirms) for f in found] == [(8, only)]


def test_a_folder_of_sounds_is_read_as_files_are(tmp_path: Path) -> None:
    source = 'from datasets import load_dataset\ndata = load_dataset("audiofolder", data_dir="data/words")\n'
    found = read(tmp_path, {"train.py": source})
    assert values(found, "dataset") == {"data/words"}


METRIC = """
    import torch

    {mark}
    def score(net, x):
        return net(x).double().mean().item()

    def fit(net, batches):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in batches:
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(("mark", "known"), [("@torch.no_grad()", {"fp32"}), ("# trained in 64 bits", set())])
def test_a_metric_in_64_bits_leaves_the_training_in_32(tmp_path: Path, mark: str, known: set[str]) -> None:
    asked = Instruction("precision", "fp32", "fp32")
    assert values(read(tmp_path, {"train.py": METRIC.format(mark=mark)}, asked), "precision") == known


MODULE = """
    import lightning as L
    import torch
    import yaml

    class Net(L.LightningModule):
        def __init__(self, net, optim):
            super().__init__()
            {saved}
            self.body = torch.nn.Linear(3, 1)

        def configure_optimizers(self):
            wish = self.hparams.optim
            return torch.optim.Adam(self.parameters(), lr=wish["lr"])

    cfg = yaml.safe_load(open("c.yaml"))
    L.Trainer(max_epochs=1).fit(Net(cfg["net"], cfg["optim"]))
"""


@pytest.mark.parametrize(("saved", "known"), [("self.save_hyperparameters()", {1e-3}), ("pass", set())])
def test_an_entry_of_a_mapping_among_the_hyperparameters(
    tmp_path: Path, saved: str, known: set[float]
) -> None:
    files = {"train.py": MODULE.format(saved=saved), "c.yaml": "net:\n  width: 3\noptim:\n  lr: 1.0e-3\n"}
    assert values(read(tmp_path, files), "learning_rate") == known


def test_a_share_is_met_where_the_order_is_not_known() -> None:
    split = Fact("data_split", 0.1, Site("train.py", 3), "rows[:cut]")
    compared = compare((SHARE, BY_TIME), [split])
    assert (list(compared.findings), list(compared.matches)) == ([], ["data_split"])
