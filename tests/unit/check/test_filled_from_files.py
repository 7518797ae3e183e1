"""Settings that a parser, an engine or a loader takes from a file: told at the file's line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstcause.check.brief import Text
from firstcause.check.pipeline import check
from firstcause.schema.finding import Finding

PARSED = """
from transformers import HfArgumentParser, TrainingArguments

def main(path="args.json"):
    (args,) = HfArgumentParser(TrainingArguments).parse_json_file(path)
    print(args)

main()
"""
LOADER = """
import tomllib
from pathlib import Path
from torch.utils.data import DataLoader

def build(cfg, data):
    return DataLoader(data, batch_size=cfg["{name}"], shuffle=True)

def main(data):
    cfg = tomllib.loads(Path("config.toml").read_text())
    return build(cfg["data"], data)
"""


def told(folder: Path, asked: str = "", **files: str) -> list[Finding]:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    briefs = [Text(asked)] if asked else []
    return list(check([str(folder)], str(folder), briefs, jobs=1).findings)


@pytest.mark.parametrize(("steps", "line"), [(200, 4), (-1, None)])
def test_steps_beside_epochs_in_the_file_of_the_arguments(
    tmp_path: Path, steps: int, line: int | None
) -> None:
    text = json.dumps({"output_dir": "out", "num_train_epochs": 5, "max_steps": steps}, indent=1)
    found = [
        f for f in told(tmp_path, train_py=PARSED, args_json=text) if f.slug == "max-steps-overrides-epochs"
    ]
    assert [(f.site.file, f.site.line) for f in found] == ([("args.json", line)] if line else [])


@pytest.mark.parametrize(
    ("name", "place"), [("batch_per_gpu", ("config.toml", 2)), ("global_batch", ("train.py", 7))]
)
def test_a_batch_that_is_taken_by_each_card(tmp_path: Path, name: str, place: tuple[str, int]) -> None:
    """Its own name says whose it is; a total that a card takes whole is wrong where it is taken."""
    found = told(
        tmp_path,
        "Train with a global batch size of 256 over 4 GPUs.",
        train_py=LOADER.replace("{name}", name),
        config_toml=f"[data]\n{name} = 256\n",
        run_sh="torchrun --nproc-per-node=4 train.py\n",
    )
    assert [(f.site.file, f.site.line) for f in found if f.slug == "batch-size-mismatch"] == [place]


def test_a_server_whose_model_stands_in_its_file(tmp_path: Path) -> None:
    files = {"serve_sh": "exec vllm serve --config server.yaml\n", "ask_py": "import openai\n"}
    yaml = "model: org/other-7b\nmax-model-len: 8192\n"
    found = told(tmp_path, "Serve org/model-7b with vLLM, context 8192.", server_yaml=yaml, **files)
    assert [(f.slug, f.site.file, f.site.line) for f in found if f.category == "critical"] == [
        ("wrong-model", "server.yaml", 1)
    ]


TRL = """
from trl import ModelConfig, ScriptArguments, SFTConfig, TrlParser

parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))
script, args, model = parser.parse_args_and_config()
"""


def test_a_key_that_the_filled_classes_have_no_more_is_told_at_its_line(tmp_path: Path) -> None:
    text = "lora_r: 32\nlora_dropout: 0.1\nmax_seq_length: 4096\n"
    (tmp_path / "run.sh").write_text("python train.py --config sft.yaml\n")
    found = told(tmp_path, "LoRA dropout 0.05, rank 32, max length 4096.", train_py=TRL, sft_yaml=text)
    assert {(f.slug, f.site.file, f.site.line) for f in found} == {
        ("removed-argument-max-seq-length", "sft.yaml", 3),
        ("lora-dropout-mismatch", "sft.yaml", 2),
    }
