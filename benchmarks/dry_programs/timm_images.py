"""timm's parts put together as in its reference training: augmentation, mixup, EMA, a cosine schedule, half precision."""

import numpy as np
import timm
import torch
from PIL import Image
from timm.data import Mixup, create_transform
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV2, NativeScaler, accuracy
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, n, transform):
        self.n, self.transform = n, transform

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        pixels = np.random.default_rng(i).integers(0, 255, (256, 256, 3), dtype=np.uint8)
        return self.transform(Image.fromarray(pixels)), i % 100


def train_one_epoch(epoch, model, loader, optimizer, loss_fn, scaler, schedule, mixup, ema, device):
    losses, updates = AverageMeter(), epoch * len(loader)
    model.train()
    for image, target in loader:
        image, target = mixup(image.to(device), target.to(device))
        with torch.autocast("cuda", torch.float16):
            loss = loss_fn(model(image), target)
        losses.update(loss.item(), image.size(0))
        optimizer.zero_grad()
        scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
        ema.update(model)
        updates += 1
        schedule.step_update(updates, metric=losses.avg)
    return losses.avg


@torch.no_grad()
def validate(model, loader, device):
    top1 = AverageMeter()
    model.eval()
    for image, target in loader:
        image, target = image.to(device), target.to(device)
        output = model(image)
        top1.update(accuracy(output, target)[0].item(), image.size(0))
    return top1.avg


def main(epochs=5, device="cuda"):
    model = timm.create_model("resnet18", num_classes=100).to(device)
    optimizer = create_optimizer_v2(model, "adamw", lr=1e-3, weight_decay=0.05)
    ema, scaler, mixup = ModelEmaV2(model, 0.999), NativeScaler(), Mixup(mixup_alpha=0.2, num_classes=100)
    train = DataLoader(
        Pictures(2000, create_transform(224, is_training=True)), 64, shuffle=True, drop_last=True
    )
    held_out = DataLoader(Pictures(300, create_transform(224)), 64)
    schedule = CosineLRScheduler(optimizer, t_initial=epochs * len(train), t_in_epochs=False, warmup_t=50)
    for epoch in range(epochs):
        loss = train_one_epoch(
            epoch, model, train, optimizer, SoftTargetCrossEntropy(), scaler, schedule, mixup, ema, device
        )
        print(epoch, loss, validate(model, held_out, device), validate(ema.module, held_out, device))
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pth.tar")
    print(
        nn.functional.cross_entropy(
            model(torch.rand(2, 3, 224, 224, device=device)), torch.tensor([1, 2], device=device)
        )
    )


if __name__ == "__main__":
    main()
