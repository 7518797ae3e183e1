"""Settings that a launch, a file of accelerate or an object hands on, and what only confirms a wish."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from firstcause.check.code import Code
from firstcause.check.facts import facts
from firstcause.check.pipeline import check
from firstcause.schema.instruction import Instruction
from firstcause.source.project import Project


def found(folder: Path, files: dict[str, str], key: str, *asked: Any) -> set[tuple[Any, str]]:
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text).lstrip())
    instructions = tuple(Instruction(key, value, "") for value in asked)
    code = Code(Project(str(folder), [n for n in files if n.endswith(".py")]), {}, instructions)
    return {(f.value, str(f.site)) for f in facts(code) if f.key == key}


TRAINER = """
    from transformers import Trainer, TrainingArguments
    args = TrainingArguments(output_dir="out", learning_rate=1e-4)
    Trainer(model=model, args=args, train_dataset=data).train()
"""
FSDP = """
    compute_environment: LOCAL_MACHINE
    distributed_type: FSDP
    fsdp_config:
      fsdp_activation_checkpointing: {checkpointing}
      fsdp_offload_params: {offload}
    num_processes: 8
"""


def fsdp(checkpointing: str = "true", offload: str = "false") -> dict[str, str]:
    yaml = FSDP.format(checkpointing=checkpointing, offload=offload)
    return {
        "train.py": TRAINER,
        "f.yaml": yaml,
        "run.sh": 'accelerate launch --config_file f.yaml train.py "$@"\n',
    }


def test_activations_that_accelerates_file_recomputes(tmp_path: Path) -> None:
    assert (True, "f.yaml:4") in found(tmp_path, fsdp(), "gradient_checkpointing", True)
    assert found(tmp_path, fsdp("false"), "gradient_checkpointing", True) == {(False, "f.yaml:4")}


def test_activations_that_the_trainers_own_settings_recompute(tmp_path: Path) -> None:
    source = TRAINER.replace("learning_rate=1e-4", 'fsdp="full_shard", fsdp_config={}')
    given = source.format('{"activation_checkpointing": True}')
    assert found(tmp_path, {"train.py": given}, "gradient_checkpointing", True) == {(True, "train.py:2")}
    files = {"train.py": source.format('"f.json"'), "f.json": '{\n"activation_checkpointing": true}\n'}
    assert found(tmp_path, files, "gradient_checkpointing", True) == {(True, "f.json:2")}
    launched = {
        "train.py": TRAINER,
        "run.sh": "accelerate launch --use_fsdp --fsdp_activation_checkpointing true train.py\n",
    }
    assert (True, "run.sh:1") in found(tmp_path, launched, "gradient_checkpointing", True)


def test_offloading_that_is_asked_about(tmp_path: Path) -> None:
    assert found(tmp_path, fsdp(), "offload") == set()
    assert found(tmp_path, fsdp(), "offload", "none") == {("none", "f.yaml:5")}
    assert found(tmp_path, fsdp(offload="true"), "offload") == {("cpu", "f.yaml:5")}


def test_accelerate_is_there_where_it_launches_the_trainer(tmp_path: Path) -> None:
    assert ("accelerate", "run.sh:1") in found(tmp_path, fsdp(), "framework", "accelerate")
    assert "accelerate" not in {v for v, _ in found(tmp_path, fsdp(), "framework", "trainer")}


PARSED = """
    from trl import GRPOConfig, ModelConfig, TrlParser
    config, model = TrlParser((GRPOConfig, ModelConfig)).parse_args_and_config()
"""


def test_a_parsers_file_behind_which_a_script_hands_on_its_words(tmp_path: Path) -> None:
    files = {
        "train.py": PARSED,
        "g.yaml": "learning_rate: 1.0e-5\n",
        "run.sh": 'python train.py --config g.yaml "$@"\n',
    }
    assert found(tmp_path, files, "learning_rate") == {(1e-5, "g.yaml:1")}


REQUEST = """
    from openai import OpenAI
    from pydantic import BaseModel

    class Sampling(BaseModel):
        temperature: float = 0.7

    SAMPLING = Sampling({given})
    client = OpenAI()
    client.chat.completions.create(model="m", messages=[], **SAMPLING.{dump}())
"""


def test_an_object_of_pydantics_that_is_spread(tmp_path: Path) -> None:
    source = REQUEST.format(given="", dump="model_dump")
    assert found(tmp_path, {"ask.py": source}, "temperature") == {(0.7, "ask.py:5")}
    source = REQUEST.format(given="temperature=0.2", dump="model_dump")
    assert (0.2, "ask.py:7") in found(tmp_path, {"ask.py": source}, "temperature")


DIVIDED = """
    from transformers import TrainingArguments
    PER_STEP, AT_ONCE = 48, 8
    accumulate, left = divmod(PER_STEP, AT_ONCE)
    TrainingArguments(gradient_accumulation_steps={part})
"""


def test_both_parts_of_a_division(tmp_path: Path) -> None:
    key = "gradient_accumulation"
    assert {v for v, _ in found(tmp_path, {"a.py": DIVIDED.format(part="accumulate")}, key)} == {6}
    assert {v for v, _ in found(tmp_path, {"a.py": DIVIDED.format(part="left")}, key)} == {0}


LOOP = """
    import torch
    def fit(model, loader):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for x, y in loader:
            {loss}
            loss.backward()
            optimizer.step()
"""


def test_a_plain_loop_computes_in_32_bits_where_that_is_asked(tmp_path: Path) -> None:
    plain = LOOP.format(loss="loss = model(x, y)")
    assert found(tmp_path, {"a.py": plain}, "precision", "fp32") == {("fp32", "a.py:3")}
    assert found(tmp_path, {"a.py": plain}, "precision") == set()
    cast = LOOP.format(loss="loss = model(x.to(torch.bfloat16), y)")
    assert "fp32" not in {v for v, _ in found(tmp_path, {"a.py": cast}, "precision", "fp32")}


def test_a_secret_that_the_environment_holds(tmp_path: Path) -> None:
    source = 'import os\nkey = os.environ["SHOP_KEY"]\n'
    assert found(tmp_path, {"a.py": source}, "secrets", "SHOP_KEY") == {("SHOP_KEY", "a.py:2")}
    assert found(tmp_path, {"a.py": 'NAME = "SHOP_KEY"\n'}, "secrets", "SHOP_KEY") == set()


def test_the_encoder_of_a_network_for_segmentation(tmp_path: Path) -> None:
    source = 'import segmentation_models_pytorch as smp\nnet = smp.Unet(encoder_name="resnet34", classes=1)\n'
    assert ("resnet34", "a.py:2") in found(tmp_path, {"a.py": source}, "model")


MIRRORED = """
    import random
    from PIL import ImageOps
    class Data:
        def __getitem__(self, index):
            image = self.load(index)
            if {test}:
                image = ImageOps.mirror(image)
            return image
"""


def test_images_that_are_mirrored_at_random(tmp_path: Path) -> None:
    by_chance = {"a.py": MIRRORED.format(test="random.random() < 0.5")}
    assert {v for v, _ in found(tmp_path, by_chance, "augmentation", True)} == {True, "flip"}
    turned = {"a.py": MIRRORED.format(test="self.turned[index]")}
    assert found(tmp_path, turned, "augmentation", True) == set()


SPREAD = """
    import json
    from transformers import TrainingArguments
    settings = json.loads(open("run.json").read())
    args = TrainingArguments(**settings["args"])
"""


def test_steps_that_beat_epochs_are_told_where_the_file_sets_them(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(SPREAD))
    (tmp_path / "run.json").write_text('{"args": {\n  "num_train_epochs": 2,\n  "max_steps": 60\n}}\n')
    report = check([str(tmp_path)], str(tmp_path))
    sites = {
        str(f.site).rpartition("/")[2] for f in report.findings if f.slug == "max-steps-overrides-epochs"
    }
    assert sites == {"run.json:3"}


@pytest.mark.parametrize(
    "code",
    [
        'os.environ["SHOP_KEY"] = "changeme"',
        'os.environ["SHOP_KEY"] = "changeme"\nkey = os.environ["SHOP_KEY"]',
        'key = os.environ.get("SHOP_KEY", "changeme")',
        'key = os.getenv("SHOP_KEY") or "changeme"',
        'os.environ.setdefault("SHOP_KEY", "changeme")\nkey = os.getenv("SHOP_KEY")',
    ],
)
def test_a_secret_that_the_code_says_itself(tmp_path: Path, code: str) -> None:
    assert found(tmp_path, {"a.py": "import os\n" + code + "\n"}, "secrets", "SHOP_KEY") == set()


@pytest.mark.parametrize("code", ['key = os.environ.get("SHOP_KEY", "")', 'key = os.environ["SHOP_KEY"]'])
def test_a_secret_without_a_default(tmp_path: Path, code: str) -> None:
    read = found(tmp_path, {"a.py": f"import os\n{code}\n"}, "secrets", "SHOP_KEY")
    assert read == {("SHOP_KEY", "a.py:2")}


@pytest.mark.parametrize(
    ("given", "recomputed"),
    [
        ("activation_checkpointing_policy={Block}", True),
        ("activation_checkpointing_policy=None", False),
        ("activation_checkpointing=None", False),
        ("**options", False),
        ("**{'activation_checkpointing_policy': {Block}}", True),
    ],
)
def test_what_a_strategy_is_given_recomputes_where_it_is_something(
    tmp_path: Path, given: str, recomputed: bool
) -> None:
    source = f"from lightning.strategies import FSDPStrategy\nstrategy = FSDPStrategy({given})\n"
    assert bool(found(tmp_path, {"a.py": source}, "gradient_checkpointing", True)) is recomputed
