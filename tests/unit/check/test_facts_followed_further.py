"""What code does with its data and its weights: saves in a helper, a quantisation that reaches no model, splits, columns, draws."""

from __future__ import annotations

import pytest
from fact_reading import read, values

from firstcause.check.compliance.compare import compare
from firstcause.check.facts import Fact
from firstcause.schema.instruction import Instruction
from firstcause.schema.site import Site

SAVING = """
import torch
from torch import nn

def save(path, **state):
    torch.save(state, path)

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
best = 9.0
for epoch in range(5):
    for x, y in loader:
        opt.zero_grad()
        (net(x) - y).square().mean().backward()
        opt.step()
    val_loss = evaluate(net)
    if val_loss < best:
        best = val_loss
        save("best.pt", model=net.state_dict())
    {each}
{last}
"""


@pytest.mark.parametrize(
    ("each", "last", "kinds"),
    [
        ('save("last.pt", model=net.state_dict())', "", {"epoch"}),
        ("pass", 'save("end.pt", model=net.state_dict())', {"best"}),
    ],
)
def test_a_save_in_a_helper_is_made_where_the_helper_is_called(tmp_path, each, last, kinds):
    found = values(tmp_path, SAVING.format(each=each, last=last), "save_strategy")
    assert {v for _, v, _ in found} == kinds


HELPED = """
import torch
from torch import nn

def keep_if_better(net, loss, best):
    {test}
    {save}
    return best

net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
best = 9.0
for epoch in range(5):
    for x, y in loader:
        opt.zero_grad()
        (net(x) - y).square().mean().backward()
        opt.step()
    best = keep_if_better(net, evaluate(net), best)
"""
WRITE = 'torch.save(net.state_dict(), "net.pt")'


@pytest.mark.parametrize(
    ("test", "save", "kind"),
    [
        ("pass", WRITE, "epoch"),
        ("pass", f"if rank == 0: {WRITE}", "epoch"),
        ("pass", f"if loss < best: {WRITE}", "best"),
        ("if loss >= best: return best", WRITE, "best"),
    ],
)
def test_a_test_within_the_helper_chooses_and_the_save_keeps_its_name(tmp_path, test, save, kind):
    found = [f for f in read(tmp_path, HELPED.format(test=test, save=save)) if f.key == "save_strategy"]
    assert [(f.value, f.how, f.confirms) for f in found] == [(kind, "torch.save", kind == "best")]


def test_what_is_compared_with_the_best_so_far_chooses(tmp_path):
    source = SAVING.format(each="pass", last="")
    asked = [("metric_for_best", "eval_loss")]
    assert {f.value for f in read(tmp_path, source, asked) if f.key == "metric_for_best"} >= {"val_loss"}


QUANTISED = """
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig

quant = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-4B"{given})
{more}
"""


@pytest.mark.parametrize(
    ("given", "more", "kinds"),
    [
        ("", "", {"none"}),
        (", quantization_config=quant", "", {"4bit"}),
        (", **options", "", {"4bit"}),
        ("", 'options = {"quantization_config": quant}', {"4bit"}),
        # Another library's function may load the policy with it.
        ("", 'from llmtools import load\npolicy = load("owner/policy", quant)', {"4bit"}),
        ("", 'from llmtools import load\npolicy = load(*["owner/policy", quant])', {"4bit"}),
        ("", "def shown(config): pass\nshown(quant)", {"none"}),
    ],
)
def test_a_quantisation_that_is_given_to_no_model_quantises_nothing(tmp_path, given, more, kinds):
    found = values(tmp_path, QUANTISED.format(given=given, more=more), "quantization")
    assert {v for _, v, _ in found} == kinds


PARTED = """
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit, train_test_split

TARGET = "died"
OTHERS = {{"patient_id", {others}TARGET}}

def load():
    return pd.read_csv("stays.csv"{columns})

table = load()
{split}
features = [c for c in table.columns if c not in OTHERS]
{use}
"""
USE = "x = table[features].to_numpy()"
SPLIT = "train, val = train_test_split(table, test_size=0.2)"


def parted(folder, key, value, split=SPLIT, others="", columns="", use=USE):
    source = PARTED.format(split=split, others=others, columns=columns, use=use)
    return {f.value for f in read(folder, source, [(key, value)]) if f.key == key}


@pytest.mark.parametrize(
    ("split", "kinds"),
    [
        (SPLIT, {"rows"}),
        ("a, b = next(GroupShuffleSplit(test_size=0.2).split(table, groups=table.patient_id))", {"group"}),
        ('ids = table["patient_id"].unique()\ntrain, val = train_test_split(ids, test_size=0.2)', set()),
        ("train, val = train_test_split(table, test_size=0.2, shuffle=mixed)", set()),
        # The table has a row for each patient, and another one's rows follow it.
        (SPLIT + '\ntrain = scans.merge(train, on="patient_id")', set()),
        (SPLIT + '\ntrain = pd.merge(scans, train, on="patient_id")', set()),
        (SPLIT + '\ntrain = scans.set_index("patient_id").loc[train.patient_id]', set()),
        (SPLIT + "\nids = set(train.patient_id)\ntrain = [s for s in scans if s.patient in ids]", set()),
        # A column of the rows themselves, and a name of a column.
        (SPLIT + '\ntrain["sex"] = train["sex"].map(dict(f=0, m=1))', {"rows"}),
        (SPLIT + '\nfull = "age" in train.columns', {"rows"}),
        (SPLIT + "\nnames = list(train.columns)\nfull = [n for n in names if n not in OTHERS]", {"rows"}),
    ],
)
def test_rows_that_are_parted_by_chance_are_no_groups(tmp_path, split, kinds):
    assert parted(tmp_path, "split_by", "group", split) == kinds


def test_a_comparison_with_a_date_parts_by_time(tmp_path):
    split = 'train = table[table.day < pd.Timestamp("2024-07-01")]'
    assert parted(tmp_path, "data_split", "by_time", split) == {"by_time"}


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ({}, {"days_to_event"}),
        ({"columns": ', usecols=["patient_id", "age", "days_to_event"]'}, {"days_to_event"}),
        ({"columns": ', usecols=["patient_id", "age"]'}, set()),
        ({"others": '"days_to_event", '}, set()),
        ({"split": 'table = table.drop(columns="days_to_event")'}, set()),
        ({"split": "table = table[table.age > 17].dropna()"}, {"days_to_event"}),
        ({"split": "table = table.dropna(axis=1)"}, set()),
        ({"split": 'table = table.select_dtypes("number")'}, set()),
        ({"split": 'table = table.loc[:, ~table.columns.str.startswith("days_")]'}, set()),
        ({"split": "table = table.iloc[:, 1:]"}, set()),
        ({"use": 'print("not used:", features)'}, set()),
    ],
)
def test_a_column_is_an_input_where_nothing_takes_it_out(tmp_path, more, kinds):
    assert parted(tmp_path, "input_column", "days_to_event", **more) == kinds


REPLAYED = """
import random
import gymnasium as gym
import torch

MINIBATCH, EVERY = 64, 4

class Replay:
    def sample(self, count):
        rows = random.sample(self.rows, count)
        return {made}

replay = Replay()
for step in range(1000):
    if step > 100 and step % EVERY == 0:
        loss = td_loss(net, replay.sample(MINIBATCH))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(("made", "sizes"), [("torch.tensor(rows)", {64}), ("rows", set())])
def test_an_update_draws_so_many_transitions(tmp_path, made, sizes):
    found = values(tmp_path, REPLAYED.format(made=made), "batch_size", "gradient_accumulation")
    assert {v for _, v, _ in found} == sizes


DRAWN = """
import random
import gymnasium as gym
import numpy as np
import torch

BATCH = 64

def draw(memory, demos, frames):
    {rows}
    return torch.tensor(rows)

def update(opt, loss):
    loss.backward()
"""


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        ("rows = random.sample(memory, BATCH)", {64}),
        # Two parts of a batch.
        ("rows = random.sample(memory, BATCH // 2) + random.sample(demos, BATCH // 2)", set()),
        ("rows = memory[np.random.randint(0, len(memory), size=BATCH)]", {64}),
        (
            "at = np.random.randint(0, len(memory), size=BATCH)\n    rows = [memory[i] for i in at.tolist()]",
            {64},
        ),
        # Where an image is cut.
        ("top, left = np.random.randint(0, 9, size=2)\n    rows = frames[:, top : top + 84]", set()),
        ("noise = np.random.randint(0, 9, size=8)\n    rows = memory[0] + noise", set()),
    ],
)
def test_what_is_drawn_indexes_a_memory_and_is_the_whole_batch(tmp_path, rows, sizes):
    assert {v for _, v, _ in values(tmp_path, DRAWN.format(rows=rows), "batch_size")} == sizes


def test_a_draw_that_one_function_asks_for_twice_is_a_part_of_its_batch(tmp_path):
    source = DRAWN.format(rows="rows = random.sample(memory, BATCH)")
    source += "\ndef both(a, b):\n    return draw(a, a, 0), draw(b, b, 0)\n"
    assert not values(tmp_path, source, "batch_size")


def test_files_that_are_read_are_the_data_and_names_of_the_hub_are_not():
    def met(value, how):
        fact = Fact("dataset", value, Site("train.py", 1), how)
        return compare([Instruction("dataset", value, "")], [fact]).matches

    assert met("data/train.jsonl", "load_dataset(data_files=)") == ("dataset", "input_path")
    assert met("birds/train", "ImageFolder") == ("dataset", "input_path")
    assert met("owner/set", "load_dataset") == ("dataset",)


def test_a_rate_that_a_cosine_sets_follows_it(tmp_path):
    source = """
    import math
    for group in opt.param_groups:
        group["lr"] = 0.1 * 0.5 * (1 + math.cos(math.pi * epoch / 90))
        group["width"] = math.cos(3)
    """
    asked = [("scheduler", "cosine")]
    assert [f.value for f in read(tmp_path, source, asked) if f.key == "scheduler"] == ["cosine"]


@pytest.mark.parametrize(("policy", "found"), [("rand-m9-mstd0.5-inc1", True), ("original", False)])
def test_a_policy_of_timm_is_a_randaugment_where_it_says_so(tmp_path, policy, found):
    source = f"""
    from timm.data import create_transform
    augment = create_transform(288, is_training=True, auto_augment="{policy}")
    """
    kinds = {
        f.value for f in read(tmp_path, source, [("augmentation", "randaugment")]) if f.key == "augmentation"
    }
    assert ("randaugment" in kinds) is found


def test_the_updates_that_a_schedule_is_made_for_confirm(tmp_path):
    source = """
    from transformers import get_linear_schedule_with_warmup
    schedule = get_linear_schedule_with_warmup(optimizer, 100, 40_000)
    """
    found = [f for f in read(tmp_path, source, [("max_steps", 40000)]) if f.key == "max_steps"]
    assert [(f.value, f.confirms) for f in found] == [(40000, True)]
