from __future__ import annotations

import ast

import pytest

from firstcause.check.constants import constant
from firstcause.source.frames import Value
from firstcause.source.project import Project

YAML = "optim:\n  lr: 0.5\n  name: sgd\nseed: 7\n"
HYDRA = """
import hydra
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    train(cfg.optim, cfg)
    asked({})
def train(optim, whole):
    asked(optim.lr)
main()
"""
GROUPS = {
    "conf/config.yaml": "defaults:\n  - optim: slow\n  - _self_\nseed: 7\nrate: ${optim.lr}\ntag: run-${optim.name}-${seed}\noptim:\n  name: own\n",
    "conf/optim/slow.yaml": "lr: 0.5\nname: slow\n",
    "conf/optim/fast.yaml": "lr: 5\nname: fast\n",
}
ARGPARSE = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.5)
args = parser.parse_args()
asked(args.lr)
"""
DATACLASS = """
import sys
from dataclasses import dataclass, field
from transformers import HfArgumentParser, TrainingArguments
@dataclass
class Model:
    lr: float = field(default=0.5)
parser = HfArgumentParser((TrainingArguments, Model))
if sys.argv[1].endswith(".json"):
    training, model = parser.parse_json_file(sys.argv[1])
else:
    training, model = parser.parse_args_into_dataclasses()
asked(model.lr)
"""


def asked(folder, source, files):
    """What the code's calls of ``asked`` are given: value, file and line, and whether a command line may say otherwise."""
    for name, text in {"train.py": source, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    project = Project(str(folder), ["train.py"])
    module = project.module("train.py")
    calls = [n for n in module.nodes(ast.Call) if getattr(n.func, "id", "") == "asked"]
    found = [constant(project, Value(module, c.args[0])) for c in calls]
    return [f and (f.value, str(f.site), f.overridable) for f in found]


@pytest.mark.parametrize(
    "source",
    [
        'import yaml\nc = yaml.safe_load(open("c.yaml"))\nasked(c["optim"]["lr"])',
        'import yaml\nwith open("c.yaml") as f:\n    c = yaml.load(f, Loader=yaml.SafeLoader)\nasked(c["optim"].get("lr", 1))',
        'import yaml\nfrom pathlib import Path\nc = yaml.safe_load(Path("c.yaml").read_text())\nasked(float(c["optim"]["lr"]))',
        'import os, yaml\nHERE = os.path.dirname(__file__)\nc = yaml.safe_load(open(os.path.join(HERE, "c.yaml")).read())\nasked(c["optim"]["lr"])',
        'import yaml\nfrom pathlib import Path\nP = Path(__file__).resolve().parent / "c.yaml"\ndef load(p):\n    with p.open() as f:\n        return yaml.safe_load(f)\nasked(load(P)["optim"]["lr"])',
        'from omegaconf import OmegaConf\nc = OmegaConf.load("c.yaml")\nasked(c.optim.lr)',
        'from omegaconf import OmegaConf\nc = OmegaConf.merge(OmegaConf.load("c.yaml"), {"seed": 1})\nasked(c.optim.lr)',
        'import yaml\nfrom types import SimpleNamespace\nc = SimpleNamespace(**yaml.safe_load(open("c.yaml"))["optim"])\nasked(c.lr)',
        'import yaml\nfrom dataclasses import dataclass\n@dataclass\nclass C:\n    lr: float\n    name: str\nc = C(**yaml.safe_load(open("c.yaml"))["optim"])\nasked(c.lr)',
        'import yaml\nclass Run:\n    def __init__(self):\n        self.c = yaml.safe_load(open("c.yaml"))\n    def go(self):\n        asked(self.c["optim"]["lr"])',
        'import argparse, yaml\np = argparse.ArgumentParser()\np.add_argument("--config", default="c.yaml")\na = p.parse_args()\nasked(yaml.safe_load(open(a.config))["optim"]["lr"])',
    ],
    ids=[
        "open",
        "with",
        "pathlib",
        "join",
        "function",
        "omegaconf",
        "merge",
        "namespace",
        "dataclass",
        "attribute",
        "option",
    ],
)
def test_a_value_is_followed_into_its_yaml(tmp_path, source):
    assert asked(tmp_path, source, {"c.yaml": YAML}) == [(0.5, "c.yaml:2", False)]


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        ('import json\nasked(json.load(open("c.json"))["lr"])', "c.json", '{\n"lr": 0.5}'),
        ('import tomllib\nasked(tomllib.load(open("c.toml", "rb"))["a"]["lr"])', "c.toml", "[a]\nlr = 0.5\n"),
    ],
)
def test_json_and_toml_are_followed_too(tmp_path, source, name, text):
    assert asked(tmp_path, source, {name: text}) == [(0.5, f"{name}:2", False)]


@pytest.mark.parametrize(
    "source",
    [
        'import yaml\nasked(yaml.safe_load(open("c.yaml"))["optim"]["wd"])',
        'import yaml\nasked(yaml.safe_load(open("other.yaml"))["optim"]["lr"])',
        'import yaml\nasked(yaml.safe_load(open("../outside.yaml"))["optim"]["lr"])',
        'import yaml\nc = yaml.safe_load(open("c.yaml" if x else "d.yaml"))\nasked(c["optim"]["lr"])',
        'import yaml\nc = yaml.safe_load(open("c.yaml"))\nc["optim"] = other\nasked(c["optim"]["lr"])',
    ],
    ids=["missing key", "missing file", "outside", "one of two", "overwritten"],
)
def test_a_value_that_no_file_surely_says_is_unknown(tmp_path, source):
    (tmp_path / "outside.yaml").write_text(YAML)
    folder = tmp_path / "project"
    folder.mkdir()
    assert asked(folder, source, {"c.yaml": YAML, "d.yaml": YAML.replace("0.5", "0.6")}) == [None]


@pytest.mark.parametrize(
    ("name", "launch", "wanted"),
    [
        ("cfg.optim.name", "", ("own", "conf/config.yaml:8")),
        ("cfg.rate", "", (0.5, "conf/optim/slow.yaml:1")),
        ("cfg.seed", "", (7, "conf/config.yaml:4")),
        ("cfg.tag", "", ("run-own-7", "conf/config.yaml:6")),
        ("cfg.tag", "python train.py seed=8", ("run-own-8", "conf/config.yaml:6")),
        ("cfg['optim']['lr']", "", (0.5, "conf/optim/slow.yaml:1")),
        ("cfg.seed", "python train.py seed=8", (8, "run.sh:1")),
        ("cfg.optim.lr", "python train.py \\\n  optim=fast", (5, "conf/optim/fast.yaml:1")),
        ("cfg.rate", "python train.py optim.lr=3", (3, "run.sh:1")),
    ],
)
def test_hydra_composes_its_groups_and_takes_the_overrides_of_a_launch(tmp_path, name, launch, wanted):
    files = GROUPS | ({"run.sh": launch} if launch else {})
    assert asked(tmp_path, HYDRA.format(name), files)[0] == (*wanted, False)


def test_a_part_of_hydras_config_is_followed_into_other_functions(tmp_path):
    assert asked(tmp_path, HYDRA.format("0"), GROUPS)[1] == (0.5, "conf/optim/slow.yaml:1", False)


@pytest.mark.parametrize(
    "files", [{"run.sh": "python train.py optim=fast"}, {"run.sh": "python train.py experiment=try"}]
)
def test_a_group_that_is_null_or_global_is_chosen_by_a_launch(tmp_path, files):
    config = (
        "defaults:\n  - _self_\n  - optim: slow\n  - optional local: none\n  - experiment: null\nseed: 7\n"
    )
    experiment = "# @package _global_\noptim:\n  lr: 5\n"
    files = {**GROUPS, **files, "conf/config.yaml": config, "conf/experiment/try.yaml": experiment}
    assert asked(tmp_path, HYDRA.format("cfg.optim.lr"), files)[0][0] == 5


def test_a_file_that_the_code_writes_is_not_read(tmp_path):
    source = 'import json\njson.dump({}, open("c.json", "w"))\nasked(json.load(open("c.json"))["a"])'
    assert asked(tmp_path, source, {"c.json": '{"a": 1}'}) == [None]


def test_of_several_files_of_a_name_none_is_meant(tmp_path):
    source = 'import json\nasked(json.load(open("c.json"))["a"])'
    assert asked(tmp_path, source, {"c.json": '{"a": 1}', "x/c.json": '{"a": 2}'}) == [(1, "c.json:1", False)]
    project = Project(str(tmp_path), ["x/y/t.py"], [str(tmp_path / "x"), str(tmp_path / "z")])
    for name in ("x", "z"):
        (tmp_path / name / "y").mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "d.json").write_text('{"a": 2}')
    (tmp_path / "x/y/t.py").write_text(source.replace("c.json", "d.json"))
    module = project.module("x/y/t.py")
    call = next(n for n in module.nodes(ast.Call) if getattr(n.func, "id", "") == "asked")
    assert constant(project, Value(module, call.args[0])) is None


def test_two_launches_that_differ_leave_a_value_unknown(tmp_path):
    files = GROUPS | {"a.sh": "python train.py seed=8", "b.sh": "python train.py seed=9"}
    assert asked(tmp_path, HYDRA.format("cfg.seed"), files)[0] is None


@pytest.mark.parametrize(
    ("source", "files", "wanted"),
    [
        (ARGPARSE, {}, (0.5, "train.py:4", True)),
        (ARGPARSE, {"run.sh": "python train.py --lr 2"}, (2, "run.sh:1", False)),
        (ARGPARSE, {"run.sh": "LR=2\npython train.py --lr=$LR"}, (2, "run.sh:2", False)),
        (ARGPARSE, {"run.sh": "LR=2\npython train.py --lr $LR"}, (2, "run.sh:1", False)),
        (ARGPARSE, {"run.sh": "python train.py --lr $1"}, None),
        (ARGPARSE, {"run.sh": "python other.py --lr 2"}, (0.5, "train.py:4", True)),
        (ARGPARSE, {"run.sh": "# python train.py --lr 2"}, (0.5, "train.py:4", True)),
        (DATACLASS, {}, (0.5, "train.py:7", True)),
        (DATACLASS, {"run.sh": "torchrun --nproc_per_node 2 train.py --lr 2"}, (2, "run.sh:1", False)),
        (
            DATACLASS,
            {"run.sh": "python train.py args.json", "args.json": '{\n"lr": 3}'},
            (3, "args.json:2", False),
        ),
        (
            "import click\n@click.command()\n@click.option('--lr', default=0.5)\ndef main(lr):\n    asked(lr)\nmain()",
            {},
            (0.5, "train.py:3", True),
        ),
        (
            "import typer\ndef main(lr: float = typer.Option(0.5)):\n    asked(lr)\ntyper.run(main)",
            {},
            (0.5, "train.py:2", True),
        ),
        (
            "from dataclasses import dataclass\nimport tyro\n@dataclass\nclass A:\n    lr: float = 0.5\nargs = tyro.cli(A)\nasked(args.lr)",
            {},
            (0.5, "train.py:5", True),
        ),
    ],
)
def test_options_come_from_launches_or_are_defaults(tmp_path, source, files, wanted):
    assert asked(tmp_path, source, files) == [wanted]


def test_a_run_that_is_looked_at_is_not_read_from_scripts(tmp_path):
    (tmp_path / "train.py").write_text(ARGPARSE)
    (tmp_path / "run.sh").write_text("python train.py --lr 2")
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    module = project.module("train.py")
    call = next(n for n in module.nodes(ast.Call) if getattr(n.func, "id", "") == "asked")
    assert constant(project, Value(module, call.args[0])).value == 0.5
