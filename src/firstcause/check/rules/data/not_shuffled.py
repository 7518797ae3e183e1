"""A loader that trains reads its samples in the order in which they are stored.

Why: stored data are often sorted by class or date: batches are then of one kind, and batch statistics and steps follow it.
Refuted by: shuffle, a sampler, a stream, an order that is meant (time series).
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.loaders import training_loaders
from firstcause.check.makers import given_maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "not-shuffled"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

ORDERS = ("shuffle", "sampler", "batch_sampler")
# Their samples stand class by class, as the folders do.
BY_CLASS = ("torchvision.datasets.ImageFolder", "torchvision.datasets.DatasetFolder")
MIXES = ("shuffle", "permutation", "randperm", "sample", "random_split", "train_test_split")


def find(code: Code) -> Iterator[Finding]:
    if code.subclasses_of("torch.utils.data.IterableDataset"):
        return
    for made in training_loaders(code):
        if len(made.node.args) > 2:
            continue
        shuffle = made.constant("shuffle")
        off = shuffle is not None and shuffle.value is False and not made.may_have("sampler")
        if not off and any(made.may_have(name) for name in ORDERS):
            continue
        text = "this loader trains in the order of storage; shuffle=True draws a new order each epoch"
        by_class = _is_by_class(code, made)
        if by_class:
            text = "this loader trains class by class, as the folders stand; shuffle=True draws a new order each epoch"
        category: Category = "critical" if by_class else CATEGORY
        yield finding(SLUG, category, made.module, made.node, text, argument="shuffle")


def _is_by_class(code: Code, made: Call) -> bool:
    """Whether the samples surely stand one class after the other: folders of classes that nothing mixes."""
    if code.methods_and_calls(*MIXES):
        return False
    data = given_maker(made, "dataset", 0)
    if data is not None and data.name == "datasets.load_dataset":
        kind = data.constant("path", 0)
        return kind is not None and kind.value == "imagefolder"
    return data is not None and data.name in BY_CLASS


_BODY = """
import torch
from torch.utils.data import DataLoader

def fit(net, data):
    loader = DataLoader(data, batch_size=8{given}){mark}
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""
BAD = (
    Example("""
import lightning
from torch.utils.data import DataLoader

class Data(lightning.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.images, batch_size=8)  # found

    def val_dataloader(self):
        return DataLoader(self.others, batch_size=8)
"""),
    Example(
        _BODY.format(given="", mark="  # found").replace(
            "def fit(net, data):",
            "from torchvision.datasets import ImageFolder\n\ndef fit(net):\n    data = ImageFolder('train')",
        )
    ),
    Example(_BODY.format(given="", mark="  # found")),
    Example(_BODY.format(given=", shuffle=False, num_workers=2", mark="  # found")),
)
GOOD = (
    Example("""
import lightning
from torch.utils.data import DataLoader

class Data(lightning.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.images, batch_size=8, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.others, batch_size=8)
"""),
    Example(_BODY.format(given=", shuffle=True", mark="")),
    Example(_BODY.format(given=", sampler=None", mark="")),
    Example("""
from torch.utils.data import DataLoader

def look(data):
    for x in DataLoader(data, batch_size=2):
        print(x)
"""),
)
