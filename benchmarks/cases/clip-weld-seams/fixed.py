"""Defect or no defect in the acoustic trace of a weld seam."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 64


class SeamNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv = nn.Conv1d(1, width, 7, stride=2, padding=3)
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.head = nn.Linear(width, 2)

    def forward(self, trace):
        h = torch.relu(self.conv(trace[:, None]))
        h = torch.relu(self.mix(h)).mean(-1)
        return self.head(h)


def seams(n=480, seed=2):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, 2, (n,), generator=g)
    trace = torch.randn(n, LENGTH, generator=g)
    trace = trace * (1 + 1.2 * label[:, None])
    return trace, label


def backward_and_clip(scaler, optimizer, model, loss, limit=1.0):
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
    return norm.item()


def main():
    torch.manual_seed(6)
    loader = DataLoader(TensorDataset(*seams()), batch_size=32, shuffle=True)
    model = SeamNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu")
    for epoch in range(4):
        losses = []
        for trace, label in loader:
            with torch.autocast("cpu", dtype=torch.float16):
                logits = model(trace)
            loss = nn.functional.cross_entropy(logits.float(), label)
            backward_and_clip(scaler, optimizer, model, loss)
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
