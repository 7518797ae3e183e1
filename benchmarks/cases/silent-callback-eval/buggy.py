import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Callback:
    def on_epoch_end(self, trainer, epoch):
        pass


class ValCallback(Callback):
    def __init__(self, x, y):
        self.x, self.y, self.values = x, y, []

    def on_epoch_end(self, trainer, epoch):
        trainer.model.eval()
        with torch.no_grad():
            v = trainer.loss_fn(trainer.model(self.x), self.y).item()
        self.values.append(v)
        if epoch % 6 == 5:
            print(f"epoch {epoch} train {trainer.last:.4f} val {v:.4f}")


class Trainer:
    def __init__(self, model, callbacks, lr=2e-3):
        self.model, self.callbacks = model, callbacks
        self.loss_fn = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, loader, epochs):
        self.model.train()
        for epoch in range(epochs):
            self.last = 0.0
            for x, y in loader:
                loss = self.loss_fn(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.last += loss.item() / len(loader)
            for cb in self.callbacks:
                cb.on_epoch_end(self, epoch)


def proteins(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 60, generator=g)
    y = (x[:, 0] + x[:, 1] - x[:, 2] + 0.8 * torch.randn(n, generator=g) > 0).long()
    return x, y


torch.manual_seed(5)
model = nn.Sequential(nn.Dropout(0.3), nn.Linear(60, 128), nn.ReLU(), nn.Dropout(0.6), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.6), nn.Linear(128, 2))
val = ValCallback(*proteins(800, 1))
Trainer(model, [val]).fit(DataLoader(TensorDataset(*proteins(300, 0)), batch_size=20, shuffle=True), epochs=30)
print(f"final val {val.values[-1]:.4f}")
