"""What code says of its models, trainers and engines."""

from __future__ import annotations

import pytest
from fact_reading import read, values

SFT = """
from peft import LoraConfig
from transformers import BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

NAME = "owner/model"
args = SFTConfig("out"{init})
trainer = SFTTrainer(model=NAME, args=args{given})
trainer.train()
"""
ADAPTER = ", peft_config=LoraConfig(r=8)"
FOUR = "quantization_config=BitsAndBytesConfig(load_in_4bit=True)"


@pytest.mark.parametrize(
    ("init", "given", "method"),
    [
        ("", f"{ADAPTER}, {FOUR}", "qlora"),
        (f", model_init_kwargs=dict({FOUR})", ADAPTER, "qlora"),
        ("", ADAPTER, "lora"),
    ],
)
def test_a_trainer_that_loads_its_model_by_name(tmp_path, init, given, method):
    found = values(tmp_path, SFT.format(init=init, given=given), "model", "method")
    assert found == {("model", "owner/model", 6), ("method", method, 8)}


LOADED = """
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import DPOTrainer

def adapter():
    return LoraConfig(r=8)

model = AutoModelForCausalLM.from_pretrained("owner/model")
config = adapter()
print(config)
DPOTrainer(model=model{}).train()
"""


def test_an_adapter_that_reaches_no_model_leaves_all_weights_training(tmp_path):
    assert values(tmp_path, LOADED.format(""), "method") == {("method", "full", 7)}


def test_a_mapping_that_the_code_does_not_say_may_carry_the_adapter(tmp_path):
    source = "import sys\n" + LOADED.format(", **vars(sys.argv[1])")
    assert values(tmp_path, source, "method") == set()


PIPELINE = """
import torch
from transformers import pipeline

NAME = "owner/translator"
HOW = {"num_beams": 4, "max_new_tokens": 64}
pipe = pipeline("translation_de_to_en", model=NAME, dtype=torch.float16, batch_size=8)
out = pipe(["a"], **HOW)
"""


def test_a_pipeline_and_the_calls_of_it(tmp_path):
    keys = ("model", "task", "num_beams", "max_new_tokens", "batch_size", "precision", "framework")
    assert values(tmp_path, PIPELINE, *keys) == {
        ("model", "owner/translator", 5),
        ("task", "translation", 7),
        ("num_beams", 4, 6),
        ("max_new_tokens", 64, 6),
        ("batch_size", 8, 7),
        ("precision", "fp16", 7),
        ("framework", "transformers", 3),
    }


def test_a_pipeline_on_what_was_trained_is_no_sure_model(tmp_path):
    source = PIPELINE + "\ndef fit(trainer):\n    trainer.train()\n"
    assert [f.sure for f in read(tmp_path, source) if f.key == "model"] == [False]


def test_generate_says_how_it_decodes(tmp_path):
    source = """
    from transformers import AutoModelForCausalLM, GenerationConfig
    model = AutoModelForCausalLM.from_pretrained("owner/model")
    model.generate(None, do_sample=True, temperature=0.7, top_p=0.9, top_k=40)
    model.generate(None, generation_config=GenerationConfig(num_beams=3, max_new_tokens=9))
    """
    keys = ("temperature", "top_p", "top_k", "num_beams", "max_new_tokens")
    assert {(k, v) for k, v, _ in values(tmp_path, source, *keys)} == {
        ("temperature", 0.7),
        ("top_p", 0.9),
        ("top_k", 40),
        ("num_beams", 3),
        ("max_new_tokens", 9),
    }


def test_another_library_s_generate_is_none_of_transformers(tmp_path):
    assert values(tmp_path, "import other\nother.make().generate(temperature=0.7)\n", "temperature") == set()


LIGHTNING = """
import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn

class Net(L.LightningModule):
    def __init__(self, lr=1e-3, decay=0.05):
        super().__init__()
        self.save_hyperparameters({saved})
        self.body = nn.Linear(9, 8)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(8, 35))

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch, i):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=self.hparams.decay)

stop = EarlyStopping("val_acc", patience=6)
keep = ModelCheckpoint(dirpath="ckpt/", monitor="val_acc", save_top_k=2)
L.Trainer(max_epochs=3, callbacks=[stop, keep]).fit(Net({given}))
"""


def test_lightning_s_callbacks_and_the_module_s_head(tmp_path):
    keys = ("early_stopping_patience", "output_dir", "save_total_limit", "metric_for_best", "num_labels")
    assert values(tmp_path, LIGHTNING.format(saved="", given=""), *keys) == {
        ("early_stopping_patience", 6, 23),
        ("output_dir", "ckpt", 24),
        ("save_total_limit", 2, 24),
        ("metric_for_best", "val_acc", 23),
        ("metric_for_best", "val_acc", 24),
        ("num_labels", 35, 12),
    }


@pytest.mark.parametrize(
    ("saved", "given", "rate"),
    [
        ("", "", {("learning_rate", 1e-3, 8)}),
        ("", "lr=5e-4", {("learning_rate", 5e-4, 25)}),
        ("'decay'", "", set()),
        ("ignore=['lr']", "", set()),
        ("", "**dict(x)", set()),
    ],
)
def test_hyperparameters_are_what_the_module_is_made_with(tmp_path, saved, given, rate):
    assert values(tmp_path, LIGHTNING.format(saved=saved, given=given), "learning_rate") == rate


def test_a_head_of_one_output_that_squared_error_trains_tells_no_classes_apart(tmp_path):
    source = LIGHTNING.format(saved="", given="").replace(
        "nn.functional.cross_entropy", "nn.functional.mse_loss"
    )
    assert values(tmp_path, source, "num_labels") == set()


def test_a_class_of_weights_is_no_model(tmp_path):
    source = """
    from torchvision import models
    w = models.ResNet18_Weights.IMAGENET1K_V1
    t = models.ResNet18_Weights.IMAGENET1K_V1.transforms()
    net = models.resnet18(weights=w)
    """
    assert values(tmp_path, source, "model") == {("model", "resnet18", 5)}


def test_names_of_options_only_confirm(tmp_path):
    source = """
    import argparse
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=128)
    def build(num_layers=3): ...
    """
    found = [f for f in read(tmp_path, source) if f.key in ("hidden_size", "num_layers")]
    assert {(f.key, f.value, f.sure, f.explicit) for f in found} == {
        ("hidden_size", 128, False, False),
        ("num_layers", 3, False, False),
    }


def test_what_partial_prepares_is_said_by_its_arguments_and_those_of_its_call(tmp_path):
    source = """
    from functools import partial
    import torch
    make = partial(torch.optim.AdamW, lr=1e-3, weight_decay=0.02)
    optimizer = make(model.parameters(), weight_decay=0.05)
    """
    found = {(k, v) for k, v, _ in values(tmp_path, source, "optimizer", "learning_rate", "weight_decay")}
    assert found == {("optimizer", "adamw"), ("learning_rate", 1e-3), ("weight_decay", 0.05)}


def test_sampling_parameters_that_sglang_takes_as_a_mapping(tmp_path):
    source = """
    import sglang
    engine = sglang.Engine(model_path="org/model")
    params = {"temperature": 0.0, "max_new_tokens": 64, "json_schema": "{}"}
    print(engine.generate(["a"], params))
    """
    keys = ("temperature", "max_new_tokens", "structured_output")
    assert {(k, v) for k, v, _ in values(tmp_path, source, *keys)} == {
        ("temperature", 0.0),
        ("max_new_tokens", 64),
        ("structured_output", "json_schema"),
    }


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("structured_outputs=StructuredOutputsParams(choice=['a', 'b'])", "choice"),
        ("structured_outputs={'regex': 'a+'}", "regex"),
        ("", "none"),
    ],
    ids=["choice", "mapping", "left-out"],
)
def test_the_form_to_which_vllm_is_held(tmp_path, given, form):
    source = f"""
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams
    params = SamplingParams(max_tokens=8, {given})
    print(LLM(model="org/model").generate(["a"], params))
    """
    asked = [("structured_output", "choice")]
    assert {f.value for f in read(tmp_path, source, asked) if f.key == "structured_output"} == {form}


def test_names_speak_only_where_the_code_says_nothing_else(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    names = "NUM_CLASSES = 14\nnet = build(NUM_CLASSES)\n"
    head = "import torchvision\nnet = torchvision.models.resnet18(num_classes=10)\n"
    asked = [("num_labels", 14)]
    alone = {f.value: f.confirms for f in read(tmp_path / "a", names, asked) if f.key == "num_labels"}
    beside = {f.value for f in read(tmp_path / "b", names + head, asked) if f.key == "num_labels"}
    assert alone == {14: True}
    assert beside == {10}


def test_weights_that_an_accelerator_computes_with_are_no_precision(tmp_path):
    source = """
    import torch
    from accelerate import Accelerator
    from transformers import AutoModel

    {}
    model = AutoModel.from_pretrained("owner/model", dtype=torch.{})
    """
    mixed = 'accelerator = Accelerator(mixed_precision="bf16")'
    found = values(tmp_path, source.format(mixed, "float32"), "precision")
    assert {v for _, v, _ in found} == {"bf16"}
    for plain in ("", "accelerator = Accelerator()"):
        found = values(tmp_path, source.format(plain, "float32"), "precision")
        assert {v for _, v, _ in found} == {"fp32"}


ASKED = """
from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="none")
reply = client.chat.completions.create(model="m", messages=[], max_tokens=9{more})
"""


@pytest.mark.parametrize(
    ("more", "form"),
    [
        ("", "none"),
        (
            ', response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}',
            "json_schema",
        ),
        (', response_format={"type": "json_object"}', "json"),
        (', extra_body={"guided_regex": "a+"}', "regex"),
        (', extra_body={"chat_template_kwargs": {"enable_thinking": False}}', "none"),
    ],
)
def test_what_a_request_is_held_to(tmp_path, more, form):
    asked = [("structured_output", "json_schema")]
    found = values(tmp_path, ASKED.format(more=more), "structured_output", asked=asked)
    assert {value for _, value, _ in found} == {form}


FROZEN = """
from transformers import CLIPModel

model = CLIPModel.from_pretrained("openai/clip-vit-base-patch32")
model.{part}.requires_grad_(False)
parameters = [p for p in model.parameters() if p.requires_grad]
"""


@pytest.mark.parametrize(
    ("part", "value"),
    [("vision_model", "vision_encoder"), ("text_model", "text_encoder"), ("visual_projection", True)],
)
def test_the_part_that_is_frozen_is_told_by_its_name(tmp_path, part, value):
    assert ("freeze", value, 5) in values(tmp_path, FROZEN.format(part=part), "freeze")
