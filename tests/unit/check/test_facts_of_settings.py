"""What code says by its settings, its loops and the defaults of its libraries."""

from __future__ import annotations

import pytest
from fact_reading import read, values

SETTINGS = """
from dataclasses import dataclass, field

@dataclass
class Model:
    name: str = "owner/model"
    length: int = 192

@dataclass
class Settings:
    model: Model = field(default_factory=Model)
"""
USES = """
from transformers import AutoModelForCausalLM
from settings import Settings

def load(s, tokenizer, rows):
    def encode(row):
        return tokenizer(row["text"], truncation=True, max_length=s.model.length)
    return rows.map(encode)

s = Settings()
{}
model = AutoModelForCausalLM.from_pretrained(s.model.name)
data = load(s, None, None)
"""


def test_settings_within_settings_stand_where_they_are_written(tmp_path):
    found = read(tmp_path, USES.format(""), settings=SETTINGS)
    told = {(f.key, f.value, str(f.site)) for f in found if f.key in ("model", "max_length") and f.sure}
    assert told == {("model", "owner/model", "settings.py:6"), ("max_length", 192, "settings.py:7")}


def test_a_field_that_is_assigned_is_not_its_default(tmp_path):
    found = read(tmp_path, USES.format("s.model.name = input()"), settings=SETTINGS)
    assert [f for f in found if f.key == "model"] == []


def test_a_path_stands_where_its_constant_is_written(tmp_path):
    source = """
    from pathlib import Path
    import torch
    OUT = Path("runs") / "best.pt"
    def save(net):
        torch.save(net.state_dict(), OUT)
    """
    assert values(tmp_path, source, "output_path") == {("output_path", "runs/best.pt", 4)}


def test_an_accelerator_s_clipping_and_epochs(tmp_path):
    source = """
    import torch
    from accelerate import Accelerator
    EPOCHS = 5
    def main(model, loader, optimizer):
        acc = Accelerator()
        model, optimizer, loader = acc.prepare(model, optimizer, loader)
        for epoch in range(EPOCHS):
            for batch in loader:
                acc.backward(model(**batch).loss)
                acc.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
    """
    assert values(tmp_path, source, "epochs", "max_grad_norm") == {
        ("epochs", 5, 4),
        ("max_grad_norm", 1.0, 11),
    }


COUNTER = """
import argparse
import torch

WAIT = 4
p = argparse.ArgumentParser()
p.add_argument("--wait", type=int, default=7)
args = p.parse_args()

def fit(net, loader, score):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best, bad = 0.0, 0
    for epoch in range(99):
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
        if score(net) > best:
            best, bad = score(net), {reset}
        else:
            bad += 1
            if bad {test}:
                break
"""


@pytest.mark.parametrize(
    ("reset", "test", "found"),
    [
        ("0", ">= 3", [(3, True)]),
        ("0", "== WAIT", [(4, True)]),
        ("0", ">= args.wait", [(7, False)]),
        ("0", "> 3", [(4, False)]),
        ("bad", ">= 3", []),
        ("0", "< 3", []),
    ],
)
def test_a_counter_at_which_the_loop_is_left(tmp_path, reset, test, found):
    known = read(tmp_path, COUNTER.format(reset=reset, test=test))
    assert [(f.value, f.sure) for f in known if f.key == "early_stopping_patience"] == found


LOOP = """
import torch

def fit(net, loader):
    loss = torch.nn.CrossEntropyLoss({loss})
    opt = torch.optim.{opt}
    for x, y in loader:
        opt.zero_grad()
        loss(net(x), y).backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("loss", "opt", "key", "value"),
    [
        ("", "SGD(net.parameters(), 0.1)", "label_smoothing", 0.0),
        ("", "AdamW(net.parameters())", "weight_decay", 0.01),
        ("", "SGD(net.parameters(), 0.1)", "weight_decay", 0.0),
        ("", "SGD(net.parameters(), 0.1)", "momentum", 0.0),
    ],
)
def test_what_is_left_out_and_asked_for_has_its_library_s_default(tmp_path, loss, opt, key, value):
    found = [f for f in read(tmp_path, LOOP.format(loss=loss, opt=opt), [(key, 0.5)]) if f.key == key]
    assert [(f.value, f.explicit, f.sure) for f in found] == [(value, False, True)]
    assert not [f for f in read(tmp_path, LOOP.format(loss=loss, opt=opt)) if f.key == key]


@pytest.mark.parametrize(
    "change",
    [
        ("opt.step()", "opt.step()\n        for g in opt.param_groups: g['weight_decay'] = 0.1"),
        ("net.parameters())", "[{'params': net.parameters()}])"),
        ("opt.zero_grad()", "torch.optim.SGD(net.head.parameters(), 0.1)"),
        ("net.parameters())", "net.parameters(), **vars(net))"),
    ],
)
def test_no_default_where_another_thing_may_set_it(tmp_path, change):
    source = LOOP.format(loss="", opt="AdamW(net.parameters())").replace(*change)
    assert not [f for f in read(tmp_path, source, [("weight_decay", 0.1)]) if f.key == "weight_decay"]


@pytest.mark.parametrize("trains", ["", "loss.backward()"])
def test_a_loss_that_nothing_is_trained_on_has_no_default(tmp_path, trains):
    source = f"""
    import torch
    def perplexity(net, x, y):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        {trains}
        return loss.exp()
    """
    found = [f for f in read(tmp_path, source, [("label_smoothing", 0.1)]) if f.key == "label_smoothing"]
    assert [f.value for f in found] == ([0.0] if trains else [])


ARGUMENTS = """
from transformers import Trainer, TrainingArguments
args = TrainingArguments("out", report_to="none")
{}
Trainer(model, args{}).train()
"""


def test_the_settings_of_the_one_trainer_have_their_defaults(tmp_path):
    asked = [("seed", 7), ("max_grad_norm", 0.5), ("learning_rate", 1e-4)]
    found = read(tmp_path, ARGUMENTS.format("", ""), asked)
    told = {(f.key, f.value, f.site.line) for f in found if not f.explicit}
    assert {("seed", 42, 3), ("max_grad_norm", 1.0, 3), ("learning_rate", 5e-5, 3)} <= told


@pytest.mark.parametrize(
    ("between", "given"),
    [("args.learning_rate = 1e-4", ""), ("", ", optimizers=(a, b)"), ("Trainer(model)", "")],
)
def test_no_default_of_settings_that_are_changed_or_not_the_only_ones(tmp_path, between, given):
    found = read(tmp_path, ARGUMENTS.format(between, given), [("learning_rate", 1e-4)])
    assert not [f for f in found if f.key == "learning_rate"]
