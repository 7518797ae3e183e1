import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Meter:
    def __init__(self, classes):
        self.table = [[0] * classes for _ in range(classes)]

    def update(self, logits, labels):
        pred = logits.argmax(-1)
        for b in range(pred.size(0)):
            for t in range(pred.size(1)):
                guess = pred[b, t].item()
                truth = labels[b, t].item()
                if truth != 0:
                    self.table[truth][guess] += 1


def run():
    torch.manual_seed(0)
    ids = torch.randint(0, 30, (512, 64))
    tags = ids % 6
    model = nn.Sequential(nn.Embedding(30, 16), nn.Linear(16, 6))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    meter = Meter(6)
    for epoch in range(3):
        for x, y in DataLoader(TensorDataset(ids, tags), batch_size=32, shuffle=True):
            out = model(x)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            meter.update(out.detach(), y)
        print(epoch, loss.item(), sum(meter.table[i][i] for i in range(6)))


run()
