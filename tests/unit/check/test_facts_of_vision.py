"""What code says of images: how they are changed at random, and how many labels the model has."""

from __future__ import annotations

import pytest
from fact_reading import read, values


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("transforms.RandomHorizontalFlip()", {"flip", True}),
        ("transforms.Compose([transforms.Resize(64), transforms.RandomResizedCrop(64)])", {"crop", True}),
        ("transforms.TrivialAugmentWide()", {True}),
        ("transforms.CenterCrop(64)", set()),
        ("create_transform(224, is_training=True)", {"crop", "flip", True}),
        ("create_transform(224, is_training=True, hflip=0.0)", {"crop", True}),
        ("create_transform(224)", set()),
    ],
)
def test_random_changes_are_told_by_kind(tmp_path, line, kinds):
    source = f"from torchvision import transforms\nfrom timm.data import create_transform\nchange = {line}\n"
    found = read(tmp_path, source, asked=[("augmentation", True)])
    assert {f.value for f in found if f.key == "augmentation"} == kinds
    assert all(f.confirms for f in found if f.key == "augmentation")


@pytest.mark.parametrize(
    "given",
    [
        "id2label=dict(enumerate(NAMES))",
        "id2label={n: name for n, name in enumerate(NAMES)}",
        'id2label={0: "a", 1: "b", 2: "c"}',
    ],
)
def test_as_many_labels_as_are_named(tmp_path, given):
    source = f"""
        from transformers import AutoModelForObjectDetection

        NAMES = ["a", "b", "c"]
        model = AutoModelForObjectDetection.from_pretrained("owner/detr", {given})
        """
    assert values(tmp_path, source, "num_labels", "task") == {
        ("num_labels", 3, 5),
        ("task", "detection", 5),
    }


def test_in_batch_negatives_are_a_cross_entropy_against_the_place(tmp_path):
    source = """
        import torch
        import torch.nn.functional as F

        def loss(scores, labels):
            return F.cross_entropy(scores, torch.arange(len(scores))) + F.cross_entropy(scores, labels)
        """
    found = read(tmp_path, source, asked=[("loss", "info_nce")])
    assert {f.value for f in found if f.key == "loss"} == {"info_nce", "cross_entropy"}


@pytest.mark.parametrize(
    ("test", "value"),
    [("if rank == 0:", "epoch"), ("if loss < best:", "best")],
)
def test_which_rank_saves_is_no_choice_of_epochs(tmp_path, test, value):
    source = f"""
        import torch
        import torch.distributed as dist

        def main(net, loader, best):
            rank = dist.get_rank()
            opt = torch.optim.Adam(net.parameters())
            for epoch in range(5):
                for x in loader:
                    loss = net(x).mean()
                    loss.backward()
                    opt.step()
                    opt.zero_grad()
                {test}
                    torch.save(net.state_dict(), f"epoch_{{epoch}}.pt")

        if __name__ == "__main__":
            main(None, None, 0)
        """
    assert {v for _, v, _ in values(tmp_path, source, "save_strategy")} == {value}


def test_schedules_of_diffusers_are_those_of_transformers(tmp_path):
    source = """
        from diffusers.optimization import get_cosine_schedule_with_warmup

        def make(opt):
            return get_cosine_schedule_with_warmup(opt, 500, 10_000)
        """
    assert values(tmp_path, source, "scheduler", "warmup_steps") == {
        ("scheduler", "cosine", 5),
        ("warmup_steps", 500, 5),
    }
