import torch
from torch import nn, optim


def wine_table(n=1600, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 11, generator=g)
    q = x[:, 0] - 0.5 * x[:, 1] + torch.tanh(x[:, 2] * x[:, 3]) + 0.3 * x[:, 4] ** 2
    return x, (q + 0.1 * torch.randn(n, generator=g)).unsqueeze(1)


class RegressionTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = optim.Adam(model.parameters(), lr=lr)
        self.loss = nn.MSELoss()
        self.history = []

    def training_step(self, xb, yb):
        pred = self.model(xb)
        loss = self.loss(pred, yb)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, x, y, epochs, bs):
        for epoch in range(epochs):
            order = torch.randperm(len(x))
            losses = [self.training_step(x[i], y[i]) for i in order.split(bs)]
            self.history.append(sum(losses) / len(losses))
            if epoch % 4 == 0:
                print(f"epoch {epoch:>3} mse {self.history[-1]:.4f}")

    def validate(self, x, y):
        with torch.inference_mode():
            return self.loss(self.model(x), y).item()


torch.manual_seed(42)
x, y = wine_table()
vx, vy = wine_table(400, seed=1)
trainer = RegressionTrainer(nn.Sequential(nn.Linear(11, 32), nn.ReLU(), nn.Linear(32, 1)), lr=0.005)
trainer.fit(x, y, epochs=20, bs=40)
print(f"final validation mse {trainer.validate(vx, vy):.4f}")
