import torch
from torch import nn


class Session:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.best = float("inf")

    def validate(self, x):
        torch.set_grad_enabled(False)
        score = (self.model(x).squeeze(-1) - x.sum(1)).pow(2).mean().item()
        if score >= self.best:
            return self.best
        self.best = score
        torch.set_grad_enabled(True)
        return score

    def train(self, epochs=30):
        for epoch in range(epochs):
            x = torch.randn(8, 4)
            loss = (self.model(x).squeeze(-1) - x.sum(1)).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.validate(torch.randn(6, 4))
        return loss.item()


print("final", Session().train())
