"""What code says of its data: batches, sets, cuts, random changes and how often they are gone over."""

from __future__ import annotations

import pytest
from fact_reading import read, values


def test_a_batch_is_that_of_the_loader_that_trains(tmp_path):
    source = """
    import torch
    from torch.utils.data import DataLoader
    train, val = DataLoader(a, batch_size=48), DataLoader(b, batch_size=96)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in train:
        opt.zero_grad()
        loss(net(x), y).backward()
        opt.step()
    """
    assert {v for _, v, _ in values(tmp_path, source, "batch_size")} == {48}


def test_a_set_of_the_users_own_files_is_named_by_these(tmp_path):
    source = """
    from torchvision.datasets import CIFAR10, CocoDetection

    welds = CocoDetection("data/images", "data/train.json")
    known = CIFAR10("data")
    """
    found = values(tmp_path, source, "dataset")
    assert found == {
        ("dataset", "data/images", 4),
        ("dataset", "data/train.json", 4),
        ("dataset", "CIFAR10", 5),
    }


def test_micro_batches_that_a_helper_adds_up_are_known_to_be_several(tmp_path):
    source = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    loader = DataLoader([], batch_size=16)

    def update(chunk):
        for batch in chunk:
            model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for epoch in range(3):
        for chunk in zip(loader, loader):
            update(chunk)
    """
    assert {v for _, v, _ in values(tmp_path, source, "gradient_accumulation")} == {None}


def test_the_epochs_of_a_policy_go_over_what_was_collected(tmp_path):
    source = """
    import gymnasium as gym
    import torch
    from torch import nn

    model = nn.Linear(4, 1)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for update in range(732):
        data = torch.randn(4096, 4)
        for epoch in range(10):
            for part in data.split(512):
                loss = model(part).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    """
    assert {v for _, v, _ in values(tmp_path, source, "epochs")} == {10}
    other = source.replace("import gymnasium as gym", "")
    assert {v for _, v, _ in values(tmp_path, other, "epochs")} == {732}


CUT = """
rows = load()
cut = int(len(rows) * 0.9)
train, val = rows[:cut], rows[cut - 24 :]
"""


def test_a_cut_of_the_rows_is_the_share_that_is_held_out(tmp_path):
    asked = [("data_split", 0.2)]
    (one,) = [f for f in read(tmp_path, CUT, asked=asked) if f.key == "data_split"]
    assert (one.value, one.site.line, one.confirms) == (0.1, 3, False)
    two = CUT + "end = int(len(rows) * 0.95)\ntest = rows[end:]\nvalid = rows[:end]\n"
    assert all(f.confirms for f in read(tmp_path, two, asked=asked) if f.key == "data_split")


FLIPS = """
import torch

class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        x = self.x[i]
        if torch.rand(1) < 0.5:
            x = x.flip(-1)
        return x
"""


@pytest.mark.parametrize(("wanted", "confirms"), [("flip", True), ("none", False)])
def test_random_changes_of_a_data_set_s_own_contradict_only_where_none_are_wanted(tmp_path, wanted, confirms):
    found = [f for f in read(tmp_path, FLIPS, asked=[("augmentation", wanted)]) if f.key == "augmentation"]
    assert [(f.value, f.site.line, f.confirms) for f in found] == [("flip", 7, confirms)]
