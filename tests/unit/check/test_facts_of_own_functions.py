"""What functions of the project's own say: how wide they make networks, how the rate falls, when they evaluate."""

from __future__ import annotations

import pytest
from fact_reading import read, values

STACK = """
from torch import nn

def q_network(inputs, actions, hidden, layers):
    blocks, width = [], inputs
    for _ in range(layers):
        blocks += [nn.Linear(width, hidden), nn.ReLU()]
        width = hidden
    return nn.Sequential(*blocks, nn.Linear(width, actions))

online = q_network(8, 4, 128, 2)
target = q_network(8, 4, 128, 2)
"""


def told(found):
    """The widths that functions are given, with whether they only confirm."""
    return {(f.value, f.confirms) for f in found if f.key == "hidden_size" and "hidden=" in f.how}


@pytest.mark.parametrize(
    ("more", "sizes"),
    [
        ("", {(128, False)}),
        # Which of two is meant is not said.
        ("critic = q_network(8, 1, 64, 2)", {(128, True), (64, True)}),
        ("head = nn.Linear(64, 4)", {(128, True)}),
    ],
)
def test_a_function_that_puts_layers_together_is_given_their_width(tmp_path, more, sizes):
    assert told(read(tmp_path, STACK + more, asked=[("hidden_size", 256)])) == sizes


def test_a_number_that_is_no_width_of_a_layer_is_none_of_the_network(tmp_path):
    source = """
        from torch import nn

        def network(inputs, hidden):
            parts = [nn.Linear(inputs, 32)]
            parts += [nn.Tanh()] * hidden
            return nn.Sequential(*parts)

        net = network(8, 3)
        """
    assert not told(read(tmp_path, source, asked=[("hidden_size", 3)]))


def test_how_many_layers_a_function_is_asked_for_only_confirms(tmp_path):
    found = read(tmp_path, STACK, asked=[("num_layers", 3)])
    assert {(f.value, f.confirms) for f in found if f.key == "num_layers" and "layers=" in f.how} == {
        (2, True)
    }


FACTOR = """
import math
from torch.optim import Adam
from torch.optim.lr_scheduler import LambdaLR

def falling(warmup, total):
    def factor(step):
        return {factor}
    return {given}

optimizer = Adam(model.parameters(), lr=1e-3)
schedule = LambdaLR(optimizer, falling(10, 100))
"""


@pytest.mark.parametrize(
    ("factor", "given", "kind"),
    [
        ("0.5 * (1 + math.cos(math.pi * step / total))", "factor", {"cosine"}),
        ("1", "lambda step: max(0.0, 1 - step / total)", {"linear"}),
        # What is given back may be anything.
        ("math.cos(step)", "make(factor)", set()),
    ],
)
def test_a_factor_that_a_function_gives_back(tmp_path, factor, given, kind):
    found = read(tmp_path, FACTOR.format(factor=factor, given=given))
    assert {f.value for f in found if f.key == "scheduler"} == kind


@pytest.mark.parametrize(
    ("cut", "part"),
    [
        ("held = rows[::10]", 0.1),
        (
            "a, b = int(0.7 * len(rows)), int(0.85 * len(rows))\nparts = rows[:a], rows[a:b], rows[b:]",
            [0.7, 0.15, 0.15],
        ),
        ("a, b = int(0.7 * len(rows)), int(0.85 * len(rows))\nparts = rows[a:b]", None),
        ("back = rows[::-1]", None),
        ("plot(rows[::10])", None),
        ("shown = losses[::10]", None),
        # A part of a part.
        ("val_curve = val_losses[::10]", None),
    ],
)
def test_data_that_is_counted_off_or_cut_twice_confirms_a_share(tmp_path, cut, part):
    found = read(tmp_path, "rows = open('rows.txt').readlines()\n" + cut, asked=[("data_split", 0.1)])
    shares = [f for f in found if f.key == "data_split"]
    assert [f.value for f in shares] == ([] if part is None else [part])
    assert all(f.confirms for f in shares)


PACED = """
import torch

optimizer = torch.optim.Adam(net.parameters())
for step in range(1, 10001):
    optimizer.zero_grad()
    net(next(batches)).mean().backward()
    optimizer.step()
    if step % 500 == 0:
        {call}
"""


@pytest.mark.parametrize(
    ("call", "steps"),
    [
        ("print(mean_return(net))", {500}),
        ("print(step)", set()),
        ("save_latest(net)", set()),
        ("run_test(net)", {500}),
    ],
)
def test_a_test_on_the_step_says_when_it_evaluates(tmp_path, call, steps):
    found = read(tmp_path, PACED.format(call=call), asked=[("eval_steps", 500)])
    assert {f.value for f in found if f.key == "eval_steps"} == steps


@pytest.mark.parametrize(
    ("more", "methods"), [("", {"full"}), (", **more", set()), (", peft_config=adapter", {"lora"})]
)
def test_a_model_that_a_trainer_loads_by_its_name_is_trained_as_a_whole(tmp_path, more, methods):
    source = f"""
        from trl import GRPOConfig, GRPOTrainer

        trainer = GRPOTrainer("owner/name", reward_funcs=score, args=GRPOConfig("out"){more})
        trainer.train()
        """
    assert {v for _, v, _ in values(tmp_path, source, "method")} == methods


def test_what_a_program_reads_of_its_config_confirms_by_its_name(tmp_path):
    (tmp_path / "c.yaml").write_text("optim:\n  batch_size: 128\n  total_steps: 5000\n  weight_decay: 0.1\n")
    source = """
        import yaml

        c = yaml.safe_load(open("c.yaml"))
        rows = replay.sample(c["optim"]["batch_size"])
        for step in range(c["optim"]["total_steps"]):
            print(step)
        """
    asked = [("batch_size", 128), ("max_steps", 5000), ("weight_decay", 0.1)]
    found = [f for f in read(tmp_path, source, asked) if f.key in dict(asked)]
    # What nothing reads says nothing.
    assert {(f.key, f.value, f.confirms) for f in found} == {
        ("batch_size", 128, True),
        ("max_steps", 5000, True),
    }
