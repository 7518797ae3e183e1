"""Demand of products: train, then answer requests."""
import json
import traceback

import torch
from torch import nn

PRODUCTS, DAYS = 80, 7


class Demand(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.product = nn.Embedding(PRODUCTS, dim)
        self.day = nn.Embedding(DAYS, dim)
        self.net = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, product, day):
        return self.net(torch.cat([self.product(product), self.day(day)], dim=-1)).squeeze(-1)


class Service:
    def __init__(self, model):
        self.model = model.eval()

    def handle(self, body):
        """Status and answer; a request that cannot be served never ends the service."""
        try:
            request = json.loads(body)
            with torch.inference_mode():
                demand = self.model(torch.tensor(request["products"]), torch.tensor(request["days"]))
            return 200, {"demand": [round(d, 2) for d in demand.tolist()]}
        except (KeyError, json.JSONDecodeError) as error:
            return 422, {"error": str(error)}
        except (IndexError, RuntimeError) as error:
            traceback.print_exc()
            return 400, {"error": str(error)}


def sales(n, g):
    product = torch.randint(0, PRODUCTS, (n,), generator=g)
    day = torch.randint(0, DAYS, (n,), generator=g)
    return product, day, torch.sin(product * 0.3) + 0.3 * (day > 4)


def train(model, g, steps=300):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        product, day, sold = sales(64, g)
        loss = nn.functional.mse_loss(model(product, day), sold)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 60 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    return loss.item()


def main():
    torch.manual_seed(9)
    model = Demand()
    final = train(model, torch.Generator().manual_seed(9))
    service = Service(model)
    requests = [{"products": [3, 5], "days": [0, 6]}, {"products": [512], "days": [1]}, {"products": [7]}]
    for request in requests:
        print(*service.handle(json.dumps(request)))
    print(f"final loss {final:.4f}")


if __name__ == "__main__":
    main()
