"""Values that stand behind properties, environment variables, process counts, merged mappings, commands and configs."""

from __future__ import annotations

import pytest
from fact_reading import read, values

PLAN = """
    import os
    from dataclasses import dataclass, field

    from transformers import TrainingArguments

    @dataclass
    class Plan:
        base: float = 1e-5
        total: int = 64
        each: int = 8

        @property
        def lr(self):
            return self.base * self.total / 32

        @property
        def steps(self):
            return self.total // self.each

    @dataclass
    class Settings:
        plan: Plan = field(default_factory=Plan)

    def arguments(cfg: Settings):
        plan = cfg.plan
        return TrainingArguments(learning_rate=plan.lr, gradient_accumulation_steps=plan.steps)

    arguments(Settings())
    """


def test_properties_of_settings_within_settings_are_computed(tmp_path):
    found = {(k, v) for k, v, _ in values(tmp_path, PLAN, "learning_rate", "gradient_accumulation")}
    assert found == {("learning_rate", 2e-5), ("gradient_accumulation", 8)}


WORLD = """
    import os
    import torch.distributed as dist
    from transformers import TrainingArguments

    cards = {}
    TrainingArguments(per_device_train_batch_size=2, gradient_accumulation_steps=64 // (2 * cards))
    """


@pytest.mark.parametrize(
    "count",
    ["dist.get_world_size()", 'int(os.environ["WORLD_SIZE"])', 'int(os.environ.get("WORLD_SIZE", "1"))'],
)
def test_the_number_of_processes_is_the_one_that_was_asked_for(tmp_path, count):
    asked = [("num_gpus", 4), ("effective_batch_size", 64)]
    key = "gradient_accumulation"
    assert {v for _, v, _ in values(tmp_path, WORLD.format(count), key, asked=asked)} == {8}
    # Nobody asked for anything: it may be started on any number.
    assert {v for _, v, _ in values(tmp_path, WORLD.format(count), key)} == {None}


def test_a_variable_s_default_is_what_runs_where_it_is_not_set(tmp_path):
    source = """
    import os
    import sglang as sgl

    CARDS = os.environ.get("CARDS", "0,1,2,3").split(",")
    engine = sgl.Engine(model_path=os.getenv("MODEL", "org/name"), tp_size=len(CARDS))
    """
    found = read(tmp_path, source)
    assert {(f.key, f.value, f.sure) for f in found if f.key in ("num_gpus", "model")} == {
        ("num_gpus", 4, True),
        ("model", "org/name", False),
    }


def test_the_right_one_of_two_merged_mappings_stands(tmp_path):
    source = """
    from openai import OpenAI

    BASE = {"temperature": 0.7, "top_p": 0.9}
    ASKED = BASE | {"temperature": 0.0, "max_tokens": 64}
    OpenAI().chat.completions.create(model="m", messages=[], **ASKED)
    """
    found = values(tmp_path, source, "temperature", "top_p", "max_new_tokens")
    assert found == {("temperature", 0.0, 5), ("top_p", 0.9, 4), ("max_new_tokens", 64, 5)}


def test_a_server_s_command_as_a_list_of_words(tmp_path):
    source = """
    import subprocess

    CARDS = 2
    subprocess.Popen(["vllm", "serve", "org/name", "--tensor-parallel-size", str(CARDS), "--max-model-len", "4096"])
    """
    found = values(tmp_path, source, "framework", "model", "num_gpus", "max_model_len")
    assert found == {
        ("framework", "vllm", 5),
        ("model", "org/name", 5),
        ("num_gpus", 2, 4),
        ("max_model_len", 4096, 5),
    }


def test_entries_of_a_config_whose_use_is_hidden_are_read_by_their_names(tmp_path):
    (tmp_path / "deploy.yaml").write_text("server:\n  tensor_parallel: 2\n  context: 8192\n  port: 1\n")
    source = """
    import yaml

    FLAGS = {"tensor_parallel": "--tensor-parallel-size", "context": "--max-model-len"}
    spec = yaml.safe_load(open("deploy.yaml"))["server"]
    words = ["vllm", "serve", spec["model"]]
    for name, flag in FLAGS.items():
        words += [flag, str(spec[name])]
    """
    asked = [("framework", "vllm"), ("num_gpus", 4), ("max_model_len", 8192)]
    found = {
        (f.key, f.value, str(f.site))
        for f in read(tmp_path, source, asked)
        if f.key in dict(asked) and f.key != "framework"
    }
    assert found == {("num_gpus", 2, "deploy.yaml:2"), ("max_model_len", 8192, "deploy.yaml:3")}
    assert "num_gpus" not in {f.key for f in read(tmp_path, source, [("num_gpus", 4)])}


LOOP = """
    from accelerate import Accelerator

    accelerator = Accelerator(gradient_accumulation_steps=4)
    done = 0
    while True:
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(batch).loss)
                optimizer.step()
                optimizer.zero_grad()
            {}done += 1
            if done >= 1000:
                break
    """


def test_a_counter_of_micro_batches_ends_the_training_early(tmp_path):
    asked = [("max_steps", 1000)]
    early = values(tmp_path, LOOP.format(""), "max_steps", asked=asked)
    assert early == {("max_steps", 250, 12)}
    guarded = LOOP.format("if accelerator.sync_gradients: ")
    assert values(tmp_path, guarded, "max_steps", asked=asked) == set()


def test_a_sharded_model_s_precision_is_the_one_it_computes_in(tmp_path):
    source = """
    import torch
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained("m", dtype=torch.float32)
    fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
    """
    assert {v for _, v, _ in values(tmp_path, source, "precision")} == {"bf16"}


def test_of_merged_settings_the_last_one_stands(tmp_path):
    source = """
    from transformers import TrainingArguments

    COMMON = dict(learning_rate=3e-5, num_train_epochs=8)
    MACHINES = {"small": dict(num_train_epochs=1), "large": dict(learning_rate=5e-5)}

    def arguments(machine="large"):
        return TrainingArguments(**{**COMMON, **MACHINES[machine]})

    arguments()
    """
    assert values(tmp_path, source, "learning_rate", "epochs") == {
        ("learning_rate", 5e-5, 5),
        ("epochs", 8, 4),
    }


def test_a_launcher_s_variable_is_what_the_program_reads(tmp_path):
    (tmp_path / "go.sh").write_text("export AMP=float16\nLR=0.5 torchrun --nproc-per-node 2 train.py\n")
    source = """
    import os
    import torch
    from functools import partial

    cast = partial(torch.autocast, "cuda", dtype=getattr(torch, os.environ.get("AMP", "bfloat16")))
    torch.optim.SGD(p, lr=float(os.environ["LR"]))
    """
    found = {
        (f.key, f.value, str(f.site))
        for f in read(tmp_path, source)
        if f.key in ("precision", "learning_rate")
    }
    assert found == {("precision", "fp16", "go.sh:1"), ("learning_rate", 0.5, "go.sh:2")}


def test_settings_as_a_mapping_of_a_subclass(tmp_path):
    source = """
    from dataclasses import asdict, dataclass
    from vllm import SamplingParams

    @dataclass
    class Decoding:
        n: int = 5
        top_p: float = 0.9
        max_tokens: int = 1 << 6

        def given(self):
            return asdict(self)

    @dataclass
    class Lively(Decoding):
        n: int = 3

    SamplingParams(**Lively().given())
    """
    found = values(tmp_path, source, "num_return_sequences", "top_p", "max_new_tokens")
    assert found == {("num_return_sequences", 3, 16), ("top_p", 0.9, 8), ("max_new_tokens", 64, 9)}


def test_a_trainer_of_one_s_own_with_its_defaults(tmp_path):
    source = """
    import lightning as L

    class House(L.Trainer):
        def __init__(self, *, folder, **options):
            options.setdefault("gradient_clip_val", 1.0)
            options.setdefault("max_epochs", 9)
            options["precision"] = "bf16-mixed"
            super().__init__(**options)

    House(folder="x", max_epochs=60, precision="32-true").fit(module)
    """
    found = values(tmp_path, source, "max_grad_norm", "epochs", "framework", "precision")
    assert found == {
        ("max_grad_norm", 1.0, 6),
        ("epochs", 60, 11),
        ("framework", "lightning", 11),
        ("precision", "bf16", 8),
    }


def test_names_made_by_a_comprehension_and_lists_put_together(tmp_path):
    source = """
    from peft import LoraConfig

    MLP = ["up_proj"]
    LoraConfig(target_modules=[f"{n}_proj" for n in "qk"] + MLP)
    """
    found = {tuple(f.value) for f in read(tmp_path, source) if f.key == "lora_target_modules"}
    assert found == {("q_proj", "k_proj", "up_proj")}


def test_entries_that_an_own_function_looks_up_by_a_dotted_name(tmp_path):
    (tmp_path / "run.json").write_text('{\n "optim": {\n  "micro": 2,\n  "warmup": 20\n }\n}\n')
    source = """
    import json
    from trl import GRPOConfig

    class Settings(dict):
        def at(self, dotted):
            node = self
            for part in dotted.split("."):
                node = node[part]
            return node

    cfg = Settings(json.load(open("run.json")))
    GRPOConfig(learning_rate=cfg.at("optim.micro") * 1e-6, warmup_steps=cfg.at("optim.warmup"), seed=cfg["optim"]["micro"])
    """
    found = {(f.key, f.value, str(f.site)) for f in read(tmp_path, source) if f.sure and f.key != "framework"}
    wanted = {
        ("learning_rate", 2e-6, "train.py:13"),
        ("warmup_steps", 20, "run.json:4"),
        ("seed", 2, "run.json:3"),
    }
    assert wanted <= found


def test_a_variable_that_nothing_sets_leaves_what_stands_behind_it(tmp_path):
    source = """
    import os
    from sentence_transformers import SentenceTransformer

    BASE = os.environ.get("BASE_MODEL") or "org/small"
    SentenceTransformer(BASE)
    """
    assert {(f.value, f.sure) for f in read(tmp_path, source) if f.key == "model"} == {("org/small", False)}


def test_a_share_of_the_steps_through_a_function(tmp_path):
    source = """
    from transformers import TrainingArguments

    def warm(total, share):
        return int(total * share)

    TrainingArguments(warmup_steps=warm(len(rows), share=0.05))
    """
    assert {v for _, v, _ in values(tmp_path, source, "warmup_ratio")} == {0.05}


@pytest.mark.parametrize(
    ("steps", "share"),
    [
        ("total // 20", {0.05}),
        ("int(total / 20)", {0.05}),
        # An epoch, and what a count of them makes, are no share.
        ("len(data) // 32", set()),
        ("warm * (len(data) // 32)", set()),
    ],
)
def test_a_share_of_the_steps_by_a_division(steps, share, tmp_path):
    source = f"""
    from transformers import get_linear_schedule_with_warmup

    total = len(loader) * epochs
    get_linear_schedule_with_warmup(optimizer, num_warmup_steps={steps}, num_training_steps=total)
    """
    assert {v for _, v, _ in values(tmp_path, source, "warmup_ratio")} == share


def test_backwards_in_a_loop_before_the_step_are_an_accumulation_of_unknown_length(tmp_path):
    source = """
    import torch
    from torch.utils.data import DataLoader

    loader = DataLoader(rows, batch_size=16, shuffle=True)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for group in grouped(loader, 4):
        for x, y in group:
            loss_fn(net(x), y).backward()
        opt.step()
        opt.zero_grad()
    """
    assert {v for _, v, _ in values(tmp_path, source, "gradient_accumulation")} == {None}


def test_settings_that_are_read_are_no_data_and_the_paths_in_them_are(tmp_path):
    (tmp_path / "run.yaml").write_text("data:\n  train: tiles/train\n")
    source = """
    import yaml

    cfg = yaml.safe_load(open("run.yaml"))
    train(load(cfg["data"]["train"]))
    """
    found = {(f.key, f.value, str(f.site)) for f in read(tmp_path, source, [("dataset", "tiles/train")])}
    assert found == {("dataset", "tiles/train", "run.yaml:2")}
