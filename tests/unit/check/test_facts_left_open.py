"""What looks like a fact and may be another thing: nothing is said of it, or it only confirms."""

from __future__ import annotations

import pytest
from fact_reading import read

from firstcause.check.facts import Fact

QUANTISED = """
    import torch
    from llmtools import load_policy
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig

    small = BitsAndBytesConfig(load_in_4bit=True)
    {more}
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-4B")
"""
PARTED = """
    import pandas as pd
    from sklearn.model_selection import train_test_split

    patients, scans = pd.read_csv("patients.csv"), pd.read_csv("scans.csv")
    train, val = train_test_split(patients, test_size=0.2)
    {more}
"""
ORDERED = """
    import pandas as pd
    from torch.utils.data import random_split

    table = pd.read_csv("load.csv")
    {more}
    train, val = random_split(to_set(table), [0.9, 0.1])
"""
DRAWN = """
    import random
    import gymnasium as gym
    import numpy as np
    import torch

    def draw(memory, demos, frames):
        {how}
        return torch.tensor(rows)

    env = gym.make("CartPole-v1")
    for step in range(1000):
        loss = net(draw(memory, demos, frames)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
TAKEN = """
    import torch
    from itertools import islice
    from torch import nn
    from torch.utils.data import DataLoader

    def main(tasks, data):
        batches = iter(DataLoader(data, batch_size=8))
        net = nn.Linear(20, 4)
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        for step in range(1000):
            opt.zero_grad()
            for x, y in islice({source}, 4):
                nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
"""
SAVED = """
    import torch

    def keep(net, loss, best):
        {test}:
            torch.save(net.state_dict(), "kept.pt")

    def main(loader, best):
        net = torch.nn.Linear(20, 4)
        opt = torch.optim.Adam(net.parameters())
        for epoch in range(10):
            for x, y in loader:
                loss = torch.nn.functional.cross_entropy(net(x), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
            keep(net, loss, best)
"""
PACED = """
    import torch

    def main(net, opt, loader):
        for step, (x, y) in enumerate(loader):
            loss = net(x).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 500 == 0:
                {name}(net)
"""


def told(folder, source, *asked) -> list[Fact]:
    keys = {key for key, _ in asked}
    return [f for f in read(folder, source, asked) if f.key in keys]


@pytest.mark.parametrize(
    ("more", "kind"),
    [("", "none"), ('policy = load_policy("org/policy", small)', "4bit"), ("load_policy(small)", "4bit")],
)
def test_a_configuration_that_another_call_is_given_may_reach_the_model(tmp_path, more, kind):
    found = told(tmp_path, QUANTISED.format(more=more), ("quantization", "4bit"))
    assert {f.value for f in found} == {kind}


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ("", {"rows"}),
        ('train = scans.merge(train, on="patient_id")', set()),
        ("chosen = scans[scans.patient_id.isin(train.patient_id)]", set()),
    ],
)
def test_parted_rows_may_be_the_groups_of_another_table(tmp_path, more, kinds):
    found = told(tmp_path, PARTED.format(more=more), ("split_by", "group"))
    assert {f.value for f in found} == kinds


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ("", {"random"}),
        ('table = table[table["candidates"] > 0]', {"random"}),
        ("cut = int(0.8 * len(table))\n    table, test = table.iloc[:cut], table.iloc[cut:]", set()),
        ('table = table[table["day"] > 0]', {"random", "by_time"}),
    ],
)
def test_a_part_drawn_behind_a_cut_is_no_random_split(tmp_path, more, kinds):
    found = told(tmp_path, ORDERED.format(more=more), ("data_split", "by_time"))
    sure = {f.value for f in found if isinstance(f.value, str) and not (f.confirms and f.value == "random")}
    assert sure == kinds


@pytest.mark.parametrize(
    ("how", "sizes"),
    [
        ("rows = random.sample(memory, 64)", {64}),
        ("rows = random.sample(memory, 32) + random.sample(demos, 32)", set()),
        ("chosen = np.random.randint(0, 9, size=64)\n        rows = memory[chosen]", {64}),
        ("rows = [memory[i] for i in np.random.choice(9, size=64)]", {64}),
        ("top, left = np.random.randint(0, 9, size=2)\n        rows = frames[:, top : top + 84]", set()),
    ],
)
def test_a_batch_is_what_is_drawn_at_once_from_a_memory(tmp_path, how, sizes):
    found = told(tmp_path, DRAWN.format(how=how), ("batch_size", 64))
    assert {f.value for f in found} == sizes


@pytest.mark.parametrize(("source", "confirms"), [("batches", False), ("tasks", True)])
def test_what_is_taken_at_a_time_may_be_no_batches(tmp_path, source, confirms):
    (found,) = told(tmp_path, TAKEN.format(source=source), ("gradient_accumulation", 4))
    assert (found.value, found.confirms) == (4, confirms)


@pytest.mark.parametrize(
    ("test", "kind", "sure"),
    [("if True", "best", False), ("if loss < best", "best", False), ("with torch.no_grad()", "epoch", True)],
)
def test_a_test_within_a_helper_decides_on_its_save(tmp_path, test, kind, sure):
    (found,) = told(tmp_path, SAVED.format(test=test), ("save_strategy", "epoch"))
    assert (found.value, found.sure, found.how) == (kind, sure, "torch.save")


@pytest.mark.parametrize(
    ("name", "every"), [("evaluate", {500}), ("run_eval", {500}), ("save_latest", set()), ("retry", set())]
)
def test_what_evaluates_is_called_so_by_a_whole_word(tmp_path, name, every):
    found = told(tmp_path, PACED.format(name=name), ("eval_steps", 500))
    assert {f.value for f in found} == every


@pytest.mark.parametrize(
    ("line", "shares"), [("held = rows[::10]\nval = 1", set()), ("val = rows[::10]", {0.1}), ("print(losses[::10])", set())]
)  # fmt: skip
def test_what_is_counted_off_is_held_out_where_it_is_called_so(tmp_path, line, shares):
    found = told(tmp_path, line.replace("held =", "some ="), ("data_split", 0.1))
    assert {f.value for f in found} == shares


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ('token = os.environ["HF_TOKEN"]', {"HF_TOKEN"}),
        ('token = os.getenv("HF_TOKEN")', {"HF_TOKEN"}),
        ('os.environ["HF_TOKEN"] = "changeme"', set()),
    ],
)
def test_a_secret_that_the_code_writes_is_not_taken_from_the_environment(tmp_path, line, known):
    assert {f.value for f in told(tmp_path, f"import os\n{line}", ("secrets", "HF_TOKEN"))} == known


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("activation_checkpointing_policy={Block}", {True}),
        ("activation_checkpointing_policy=None", set()),
        ("**settings", set()),
    ],
)
def test_a_strategy_recomputes_where_it_is_given_a_policy(tmp_path, given, values):
    source = f"from lightning.pytorch.strategies import FSDPStrategy\nstrategy = FSDPStrategy({given})"
    assert {f.value for f in told(tmp_path, source, ("gradient_checkpointing", True))} == values
