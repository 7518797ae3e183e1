# journals: 1
"""Evaluation, checkpoint and log at the top of the body, before the step, as nanoGPT has them."""
import json

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.2), torch.nn.Linear(4, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
step, best, log = 0, float("inf"), open("log.jsonl", "w")


@torch.no_grad()
def evaluate():
    net.eval()
    losses = torch.stack([net(torch.randn(8, 4)).pow(2).mean() for _ in range(2)])
    net.train()
    return losses.mean().item()


while True:
    if step % 2 == 0:
        value = evaluate()
        log.write(json.dumps({"step": step, "value": value}) + "\n")
        log.flush()
        if value < best:
            best = value
            torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()}, f"checkpoint-{step}.pt")
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    step += 1
    if step > 6:
        break
print(repr(best), repr(loss.item()))
