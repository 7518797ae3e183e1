import torch
from torch import nn
class Fit:
    def __init__(self):
        torch.manual_seed(0)
        self.m = nn.Linear(4, 3); self.opt = torch.optim.SGD(self.m.parameters(), 0.1)
    @torch.inference_mode()
    def run(self, steps):
        for step in range(steps):
            x = torch.randn(8, 4); y = torch.randint(0, 3, (8,))
            loss = nn.functional.cross_entropy(self.m(x), y)
            self.opt.zero_grad(); loss.backward(); self.opt.step()
Fit().run(5)
print("final")
