import logging
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("ecg")


def beats(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(-1, 1, 64)
    width = torch.rand(n, 1, generator=g) * 0.1 + 0.05
    shift = torch.rand(n, 1, generator=g) * 0.6 - 0.3
    y = torch.randint(0, 2, (n,), generator=g)
    x = torch.exp(-((t - shift) / width) ** 2)
    x = x + y[:, None] * 0.35 * torch.exp(-((t - shift - 0.3) / 0.08) ** 2)
    return (x + 0.12 * torch.randn(n, 64, generator=g)).unsqueeze(1), y


def make_model():
    return nn.Sequential(
        nn.Conv1d(1, 8, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
        nn.Conv1d(8, 16, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
        nn.Flatten(), nn.Linear(16 * 16, 2),
    )


def train_one_epoch(model, data, criterion, optimizer, scheduler, epoch):
    x, y = data
    model.train()
    meter = []
    for batch in torch.randperm(len(x)).split(32):
        optimizer.zero_grad()
        loss = criterion(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        scheduler.step()
        meter.append(loss.item())
    log.info("epoch %d loss %.4f", epoch, sum(meter) / len(meter))


def evaluate(model, data, criterion):
    model.eval()
    with torch.no_grad():
        return criterion(model(data[0]), data[1]).item()


def main(epochs=8):
    torch.manual_seed(5)
    train, test = beats(1600, 1), beats(600, 2)
    model = make_model()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.08, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(epochs):
        train_one_epoch(model, train, criterion, optimizer, scheduler, epoch)
    print(f"final test loss {evaluate(model, test, criterion):.4f}")


if __name__ == "__main__":
    main()
