"""Tell three heart rhythms apart from two seconds of one ECG lead, 125 samples a second."""

import torch
from model import RhythmNet
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

RHYTHMS = ("sinus", "tachycardia", "flutter")
RATES = (1.2, 2.6, 5.0)
SAMPLES = 250


def recordings(count, generator):
    """Recordings [count, 1, 250] in mV, and which rhythm each one is."""
    rhythm = torch.randint(0, len(RHYTHMS), (count,), generator=generator)
    rate = torch.tensor(RATES)[rhythm] * (0.9 + 0.2 * torch.rand(count, generator=generator))
    start = torch.rand(count, 1, generator=generator)
    phase = (start + rate[:, None] * torch.arange(SAMPLES) / 125) % 1
    beats = 1.2 * torch.exp(-((phase - 0.3) / 0.03) ** 2) + 0.2 * torch.exp(-((phase - 0.6) / 0.08) ** 2)
    noise = 0.08 * torch.randn(count, SAMPLES, generator=generator)
    return (beats + noise).unsqueeze(1), rhythm


def main():
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(11)
    data = TensorDataset(*recordings(640, generator))
    loader = DataLoader(data, batch_size=32, shuffle=True, generator=generator)
    model = RhythmNet(len(RHYTHMS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        right = 0
        for beats, rhythm in loader:
            scores = model(beats)
            loss = criterion(scores, rhythm)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += (scores.argmax(1) == rhythm).sum().item()
        print(f"epoch {epoch}  loss {loss.item():.3f}  right {right / len(data):.0%}", flush=True)


if __name__ == "__main__":
    main()
