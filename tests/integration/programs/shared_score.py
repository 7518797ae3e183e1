import torch
from torch import nn


def step(real, maker, judge, opt_m, opt_j):
    ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
    bce = nn.functional.binary_cross_entropy_with_logits
    fake = maker(torch.randn(len(real), 3))
    on_fake = judge(fake)
    loss_j = bce(judge(real), ones) + bce(on_fake, zeros)
    opt_j.zero_grad()
    loss_j.backward(retain_graph=True)
    opt_j.step()
    spread = (fake.std(0) - real.std(0)).pow(2).sum()
    loss_m = bce(on_fake, ones) + 0.1 * spread
    opt_m.zero_grad()
    loss_m.backward()
    opt_m.step()
    return loss_j.item(), loss_m.item()


torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1))
optimizers = [torch.optim.Adam(m.parameters(), lr=1e-3) for m in (maker, judge)]
for i in range(10):
    losses = step(torch.randn(32, 2), maker, judge, *optimizers)
print("final", losses)
