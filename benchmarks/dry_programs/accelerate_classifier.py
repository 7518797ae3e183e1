"""A classifier of accelerate's template: accumulation, clipping, a schedule, an evaluation that gathers, a checkpoint."""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(batch_size):
    x, y = torch.randn(3000, 3, 32, 32), torch.randint(0, 10, (3000,))
    train, held_out = TensorDataset(x[:2500], y[:2500]), TensorDataset(x[2500:], y[2500:])
    return DataLoader(train, batch_size, shuffle=True, drop_last=True), DataLoader(held_out, batch_size)


def network():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 10),
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, required=True)
    args = parser.parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=2)
    set_seed(42)
    train, held_out = loaders(args.batch_size)
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, args.epochs * len(train))
    model, optimizer, train, held_out, schedule = accelerator.prepare(
        model, optimizer, train, held_out, schedule
    )
    for epoch in range(args.epochs):
        model.train()
        for x, y in train:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        model.eval()
        right = total = 0
        for x, y in held_out:
            with torch.no_grad():
                guess = model(x).argmax(-1)
            guess, y = accelerator.gather_for_metrics((guess, y))
            right, total = right + int((guess == y).sum()), total + len(y)
        accelerator.print(f"epoch {epoch}: {right / total:.3f}")
    accelerator.wait_for_everyone()
    accelerator.save(accelerator.unwrap_model(model).state_dict(), "model.pt")


if __name__ == "__main__":
    main()
