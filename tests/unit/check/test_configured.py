from __future__ import annotations

from firstcause.check.code import Code
from firstcause.check.facts import facts
from firstcause.check.pipeline import check
from firstcause.source.project import Project


def found(folder, files, keys):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    code = Code(Project(str(folder), [n for n in files if n.endswith(".py")]))
    return {(f.key, f.value, str(f.site)) for f in facts(code) if f.key in keys and f.sure}


DEEPSPEED = """{
  "train_batch_size": 64,
  "gradient_accumulation_steps": "auto",
  "fp16": {"enabled": true},
  "bf16": {"enabled": false},
  "zero_optimization": {
    "stage": 3,
    "offload_param": {"device": "cpu"}
  }
}"""
WANTED = {
    ("effective_batch_size", 64, "ds.json:2"),
    ("precision", "fp16", "ds.json:4"),
    ("zero_stage", 3, "ds.json:7"),
    ("offload", "cpu", "ds.json:8"),
}
KEYS = {k for k, _, _ in WANTED} | {"gradient_accumulation"}


def test_a_deepspeed_file_that_the_code_names(tmp_path):
    source = 'from transformers import TrainingArguments\nargs = TrainingArguments(deepspeed="ds.json")\n'
    assert found(tmp_path, {"train.py": source, "ds.json": DEEPSPEED}, KEYS) == WANTED


def test_a_deepspeed_file_that_a_launch_names(tmp_path):
    files = {
        "train.py": "import deepspeed\n",
        "ds.json": DEEPSPEED,
        "run.sh": "deepspeed train.py --deepspeed_config ds.json",
    }
    assert found(tmp_path, files, KEYS) == WANTED


def test_a_deepspeed_file_that_nothing_names_says_nothing(tmp_path):
    assert found(tmp_path, {"train.py": "import deepspeed\n", "ds.json": DEEPSPEED}, KEYS) == set()


def test_an_accelerate_file_and_what_beats_it(tmp_path):
    yaml = "compute_environment: LOCAL_MACHINE\nmixed_precision: bf16\nnum_processes: 4\ndeepspeed_config:\n  zero_stage: 2\n"
    keys = {"num_gpus", "precision", "zero_stage"}
    source = "from accelerate import Accelerator\na = Accelerator({})\n"
    files = {"train.py": source.format(""), "accelerate.yaml": yaml}
    everything = {
        ("num_gpus", 4, "accelerate.yaml:3"),
        ("precision", "bf16", "accelerate.yaml:2"),
        ("zero_stage", 2, "accelerate.yaml:5"),
    }
    assert found(tmp_path, files, keys) == everything
    files["train.py"] = source.format('mixed_precision="fp16"')
    assert ("precision", "bf16", "accelerate.yaml:2") not in found(tmp_path, files, keys)


def test_the_number_of_devices_of_a_launch(tmp_path):
    files = {"train.py": "", "run.sh": "torchrun --nnodes 2 \\\n  --nproc_per_node=8 train.py\n"}
    assert found(tmp_path, files, {"num_gpus"}) == {("num_gpus", 16, "run.sh:2")}
    (tmp_path / "run.sh").write_text("torchrun --nproc_per_node=$N train.py\n")
    assert found(tmp_path, {"train.py": ""}, {"num_gpus"}) == set()


SERVERS = """#!/bin/bash
vllm serve Qwen/Qwen2.5-7B-Instruct \\
    --tensor-parallel-size 2 --max-model-len 8192
python -m sglang.launch_server --model-path a/b --tp 4
"""


def test_servers_that_a_script_starts(tmp_path):
    keys = {"model", "num_gpus", "max_model_len", "framework"}
    assert found(tmp_path, {"client.py": "", "serve.sh": SERVERS}, keys) == {
        ("framework", "vllm", "serve.sh:2"),
        ("model", "Qwen/Qwen2.5-7B-Instruct", "serve.sh:2"),
        ("num_gpus", 2, "serve.sh:3"),
        ("max_model_len", 8192, "serve.sh:3"),
        ("framework", "sglang", "serve.sh:4"),
        ("model", "a/b", "serve.sh:4"),
        ("num_gpus", 4, "serve.sh:4"),
    }


def test_what_a_launch_of_lightnings_command_line_names(tmp_path):
    files = {
        "train.py": "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Model, Data)\n",
        "c.yaml": "seed_everything: 3\ntrainer:\n  max_epochs: 5\n  precision: bf16-mixed\n",
        "run.sh": "python train.py fit --config c.yaml\n",
    }
    assert found(tmp_path, files, {"seed", "epochs", "precision"}) == {
        ("seed", 3, "c.yaml:1"),
        ("epochs", 5, "c.yaml:3"),
        ("precision", "bf16", "c.yaml:4"),
    }


def test_what_accelerate_moves_out_of_the_device(tmp_path):
    yaml = "compute_environment: LOCAL_MACHINE\ndeepspeed_config:\n  offload_optimizer_device: cpu\n  offload_param_device: none\n"
    files = {"train.py": "import accelerate\n", "accelerate.yaml": yaml}
    assert found(tmp_path, files, {"offload"}) == {("offload", "cpu", "accelerate.yaml:3")}


PARSER = """
from transformers import HfArgumentParser, TrainingArguments
parser = HfArgumentParser(TrainingArguments)
(args,) = parser.parse_args_into_dataclasses()
"""


def test_training_arguments_that_a_launch_fills(tmp_path):
    files = {
        "train.py": PARSER,
        "run.sh": "python train.py \\\n --learning_rate 2e-5 \\\n --bf16 --num_train_epochs 3",
    }
    assert found(tmp_path, files, {"learning_rate", "precision", "epochs"}) == {
        ("learning_rate", 2e-5, "run.sh:2"),
        ("precision", "bf16", "run.sh:3"),
        ("epochs", 3, "run.sh:3"),
    }


def test_training_arguments_that_a_json_fills(tmp_path):
    files = {
        "train.py": PARSER,
        "run.sh": "python train.py args.json",
        "args.json": '{\n"learning_rate": 1e-3,\n"seed": 4}',
    }
    wanted = {("learning_rate", 1e-3, "args.json:2"), ("seed", 4, "args.json:3")}
    assert found(tmp_path, files, {"learning_rate", "seed"}) == wanted


def test_what_hydra_builds_from_a_target(tmp_path):
    source = 'import hydra\n@hydra.main(config_path=".", config_name="c")\ndef main(cfg):\n    hydra.utils.instantiate(cfg.optim, params=p)\nmain()\n'
    yaml = "optim:\n  _target_: torch.optim.AdamW\n  lr: 0.1\nunused:\n  _target_: torch.optim.SGD\n  lr: 5\n"
    assert found(tmp_path, {"train.py": source, "c.yaml": yaml}, {"optimizer", "learning_rate"}) == {
        ("optimizer", "adamw", "c.yaml:2"),
        ("learning_rate", 0.1, "c.yaml:3"),
    }


def test_what_hydra_builds_within_what_it_builds(tmp_path):
    source = 'import hydra\n@hydra.main(config_path=".", config_name="c")\ndef main(cfg):\n    hydra.utils.instantiate(cfg.model)\nmain()\n'
    yaml = "model:\n  _target_: own.Net\n  optim:\n    _target_: torch.optim.SGD\n    lr: 5\n"
    assert found(tmp_path, {"train.py": source, "c.yaml": yaml}, {"learning_rate"}) == {
        ("learning_rate", 5, "c.yaml:5")
    }


def test_a_config_that_a_launch_names_for_a_parser(tmp_path):
    source = (
        "from dataclasses import dataclass\nfrom datasets import load_dataset\nfrom trl import SFTConfig, TrlParser\n"
        "@dataclass\nclass Script:\n    dataset_name: str = 'a/b'\n"
        "script, args = TrlParser((Script, SFTConfig)).parse_args_and_config()\nload_dataset(script.dataset_name)\n"
    )
    files = {
        "train.py": source,
        "c.yaml": "dataset_name: c/d\nlearning_rate: 2.0e-4\n",
        "run.sh": "python train.py --config c.yaml\n",
    }
    assert found(tmp_path, files, {"dataset", "learning_rate"}) == {
        ("dataset", "c/d", "c.yaml:1"),
        ("learning_rate", 2e-4, "c.yaml:2"),
    }


def test_arguments_spread_from_a_config(tmp_path):
    source = 'import yaml\nfrom transformers import TrainingArguments\nc = yaml.safe_load(open("c.yaml"))\nTrainingArguments(**c["args"], seed=2)\n'
    yaml = "args:\n  learning_rate: 1.0e-3\n  num_train_epochs: 4\n"
    assert found(tmp_path, {"train.py": source, "c.yaml": yaml}, {"learning_rate", "epochs", "seed"}) == {
        ("learning_rate", 1e-3, "c.yaml:2"),
        ("epochs", 4, "c.yaml:3"),
        ("seed", 2, "train.py:4"),
    }


READS_SEED = """
import yaml
from torch.utils.data import DataLoader
config = yaml.safe_load(open("config.yaml"))
print(config["seed"])
loader = DataLoader([1, 2], batch_size=64, shuffle=True)
"""


def slugs(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return [f.slug for f in check([str(folder)], str(folder)).findings]


def test_a_config_that_two_programs_share(tmp_path):
    files = {"train.py": READS_SEED, "config.yaml": "seed: 1\nbatch_size: 32\n"}
    alone = slugs(tmp_path, files)
    assert {"hard-coded-batch-size", "config-key-never-read"} <= set(alone)
    other = "import yaml\nprint(yaml.safe_load(open('config.yaml'))['batch_size'])\n"
    assert not {"hard-coded-batch-size", "config-key-never-read"} & set(
        slugs(tmp_path, files | {"other.py": other})
    )


def test_a_key_that_nothing_reads_satisfies_nothing(tmp_path):
    source = 'import yaml, torch\nc = yaml.safe_load(open("c.yaml"))\ntorch.manual_seed(c["seed"])\n'
    files = {"train.py": source, "c.yaml": "seed: 3\nlearning_rate: 0.1\nbatch_size: 8\n"}
    assert found(tmp_path, files, {"learning_rate", "batch_size", "seed"}) == {("seed", 3, "c.yaml:1")}


def test_options_of_accelerate_launch_say_what_its_file_and_the_code_leave_open(tmp_path):
    source = "from accelerate import Accelerator\naccelerator = Accelerator()\n"
    launch = "accelerate launch --num_processes 4 --mixed_precision fp16 train.py\n"
    keys = {"precision", "num_gpus"}
    assert found(tmp_path, {"train.py": source, "launch.sh": launch}, keys) == {
        ("precision", "fp16", "launch.sh:1"),
        ("num_gpus", 4, "launch.sh:1"),
    }
    own = source.replace("Accelerator()", 'Accelerator(mixed_precision="bf16")')
    files = {"train.py": own, "launch.sh": launch}
    assert {v for _, v, _ in found(tmp_path, files, {"precision"})} == {"bf16"}
