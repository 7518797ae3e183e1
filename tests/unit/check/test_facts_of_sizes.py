"""What code says of its networks' sizes, of what it freezes, and of how accelerate starts it."""

from __future__ import annotations

import pytest
from fact_reading import read, values

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, features, hidden, layers):
        super().__init__()

net = Net(4, 128, layers=3)
"""
HEAD = """
class Head(nn.Module):
    def __init__(self, hidden):
        super().__init__()

head = Head(64)
"""


def test_the_only_network_with_a_width_is_the_one_that_is_meant(tmp_path):
    found = read(tmp_path, NET, asked=[("hidden_size", 256), ("num_layers", 3)])
    told = {(f.key, f.value, f.confirms) for f in found if f.key in ("hidden_size", "num_layers")}
    assert told == {("hidden_size", 128, False), ("num_layers", 3, False)}


def test_of_several_networks_any_may_be_meant(tmp_path):
    found = read(tmp_path, NET + HEAD, asked=[("hidden_size", 256)])
    told = {(f.value, f.confirms) for f in found if f.key == "hidden_size"}
    assert told == {(128, True), (64, True)}


def test_sizes_of_a_configuration(tmp_path):
    source = """
        from transformers import LlamaConfig

        config = LlamaConfig(hidden_size=768, num_hidden_layers=12)
        """
    asked = [("hidden_size", 768), ("num_layers", 12)]
    assert values(tmp_path, source, "hidden_size", "num_layers", asked=asked) == {
        ("hidden_size", 768, 4),
        ("num_layers", 12, 4),
    }


TRAINED = """
    from transformers import AutoModelForCTC, Trainer, TrainingArguments

    model = AutoModelForCTC.from_pretrained("owner/speech")
    {more}
    Trainer(model=model, args=TrainingArguments("out")).train()
    """


@pytest.mark.parametrize(
    ("more", "frozen"),
    [
        ("pass", {False}),
        ("model.freeze_feature_encoder()", {"feature encoder"}),
        ("for p in model.parameters(): p.requires_grad = False", {True}),
        ("my_freezing(model)", set()),
    ],
)
def test_what_was_to_be_frozen_and_is_not(tmp_path, more, frozen):
    found = read(tmp_path, TRAINED.format(more=more), asked=[("freeze", "encoder")])
    assert {f.value for f in found if f.key == "freeze"} == frozen
