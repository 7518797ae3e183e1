"""What is asked for and left out of the code: a library's default, or a loop that does nothing of it."""

from __future__ import annotations

import pytest

from firstcause.check.code import Code
from firstcause.check.compliance.compare import compare
from firstcause.check.facts import Fact, facts
from firstcause.schema import Instruction
from firstcause.schema.site import Site
from firstcause.source.project import Project


def read(folder, source, *asked):
    (folder / "train.py").write_text(source)
    wanted = tuple(Instruction(key, value, "") for key, value in asked)
    return facts(Code(Project(str(folder), ["train.py"]), instructions=wanted))


def values(known, key):
    return {f.value for f in known if f.key == key and not f.confirms}


LOOP = """
import torch
net = torch.nn.Linear(4, 2)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for x, y in loader:
    opt.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    {more}
    opt.step()
"""


@pytest.mark.parametrize(
    ("key", "value", "got", "more"),
    [
        ("max_grad_norm", 1.0, "none", "clip_gradients(net)"),
        ("seed", 3, "none", "seed_everything(3)"),
        ("precision", "bf16", "fp32", "scaler.update()"),
        ("scheduler", "cosine", "constant", "scheduler.step()"),
    ],
)
def test_a_loop_of_its_own_does_nothing_that_it_does_not_name(tmp_path, key, value, got, more):
    assert values(read(tmp_path, LOOP.format(more="pass"), (key, value)), key) == {got}
    assert values(read(tmp_path, LOOP.format(more=more), (key, value)), key) == set()
    assert values(read(tmp_path, LOOP.format(more="pass")), key) == set()


TRAINER = """
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
model = AutoModelForCausalLM.from_pretrained("owner/name", attn_implementation="sdpa")
args = TrainingArguments("out"{given})
Trainer(model=model, args=args, train_dataset=data).train()
"""


@pytest.mark.parametrize(
    ("key", "value", "got", "given"),
    [
        ("precision", "bf16", "fp32", ", fp16=True"),
        ("scheduler", "cosine", "linear", ", lr_scheduler_type=kind"),
        ("warmup_steps", 100, 0, ", warmup_ratio=share"),
        ("gradient_checkpointing", True, False, ", gradient_checkpointing=deep"),
        ("eval_strategy", "epoch", "no", ", evaluation_strategy=often"),
        ("save_total_limit", 2, "none", ", save_total_limit=few"),
    ],
)
def test_training_arguments_that_leave_it_out_have_its_default(tmp_path, key, value, got, given):
    assert got in values(read(tmp_path, TRAINER.format(given=""), (key, value)), key)
    assert got not in values(read(tmp_path, TRAINER.format(given=given), (key, value)), key)


def test_the_attention_that_a_model_is_loaded_with(tmp_path):
    assert values(read(tmp_path, TRAINER.format(given="")), "attn_implementation") == {"sdpa"}


LIGHTNING = """
import lightning as L
from torch import nn
from torchvision import models

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = models.resnet18()
        self.net.fc = nn.Linear(512, 9)

trainer = L.Trainer(max_epochs=3, strategy="{strategy}"{given})
trainer.fit(Net(), data)
"""


@pytest.mark.parametrize(
    ("strategy", "named"), [("ddp_find_unused_parameters_true", {"ddp"}), ("fsdp", {"fsdp"}), ("auto", set())]
)
def test_a_lightning_trainer_says_its_strategy_and_its_module_s_head(tmp_path, strategy, named):
    known = read(tmp_path, LIGHTNING.format(strategy=strategy, given=""), ("max_grad_norm", 1.0))
    assert values(known, "distributed") == named
    assert values(known, "num_labels") == {9}
    assert values(known, "max_grad_norm") == {"none"}


def test_a_lightning_trainer_that_clips_has_no_default(tmp_path):
    source = LIGHTNING.format(strategy="auto", given=", gradient_clip_val=2.0")
    assert values(read(tmp_path, source, ("max_grad_norm", 1.0)), "max_grad_norm") == {2.0}


SPREAD = """
from transformers import TrainingArguments

common = {"learning_rate": 2e-4, "num_train_epochs": 3}

def build(**extra):
    return TrainingArguments("out", **common, **extra)

args = build(seed=7)
"""


def test_each_of_several_mappings_gives_its_arguments(tmp_path):
    known = read(tmp_path, SPREAD)
    assert (values(known, "learning_rate"), values(known, "epochs"), values(known, "seed")) == (
        {2e-4},
        {3},
        {7},
    )


FOLDERS = """
from pathlib import Path
from datasets import load_from_disk
from torchvision.datasets import ImageFolder

root = Path("data/leaves")
saved = load_from_disk("data/addresses")
train = ImageFolder(root / "train")
"""


def test_folders_that_data_is_loaded_from(tmp_path):
    assert values(read(tmp_path, FOLDERS), "dataset") == {"data/addresses", "data/leaves/train"}


def test_an_engine_s_file_that_contradicts_the_arguments_is_told_where_it_stands():
    norm = Instruction("max_grad_norm", 0.5, "clip at 0.5")
    own = Fact("max_grad_norm", 0.5, Site("train.py", 9), "TrainingArguments(max_grad_norm=)")
    file = Fact("max_grad_norm", 1.0, Site("ds.json", 4), "deepspeed's gradient_clipping")
    result = compare([norm], [own, file])
    assert [(f.site.file, f.got) for f in result.findings] == [("ds.json", "1")]
    assert result.matches == ()
    assert compare([norm], [own]).matches == ("max_grad_norm",)


@pytest.mark.parametrize(
    ("key", "value", "derived"),
    [("save_strategy", "end", False), ("optimizer", "adam", False), ("gradient_checkpointing", True, True)],
)
def test_a_default_that_contradicts_nothing_is_not_told(tmp_path, key, value, derived):
    (tmp_path / "train.py").write_text(TRAINER.format(given=""))
    wanted = (Instruction(key, value, "", derived=derived),)
    known = facts(Code(Project(str(tmp_path), ["train.py"]), instructions=wanted))
    assert values(known, key) == set()


@pytest.mark.parametrize(("asked", "polarity", "met"), [(True, "require", True), ("none", "forbid", False)])
def test_offloading_to_any_place_is_what_was_asked_for(asked, polarity, met):
    instruction = Instruction("offload", asked, "", polarity=polarity)
    place = Fact("offload", "cpu", Site("ds.json", 4), "DeepSpeed's offload_param")
    assert bool(compare([instruction], [place]).matches) == met
