import argparse, os, tempfile, torch
import torch.nn as nn, torch.nn.functional as F


def main(stop, resume_from=None, save_to=None):
    torch.manual_seed(11)
    model = nn.Sequential(nn.Conv1d(1, 8, 5), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 12, 1))
    start = 0
    if resume_from:
        ckpt = torch.load(resume_from)
        model.load_state_dict(ckpt["state_dict"])
        start = ckpt["iteration"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.004, momentum=0.95, nesterov=True)
    if resume_from:
        optimizer.load_state_dict(ckpt["optimizer"])
    for it in range(start, stop):
        g = torch.Generator().manual_seed(it)
        x = torch.randn(64, 1, 16, generator=g)
        y = x.mean(2) * 3 + x[:, :, 3]
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 20 == 0:
            print(it, loss.item())
    if save_to:
        torch.save({"state_dict": model.state_dict(), "iteration": stop, "optimizer": optimizer.state_dict()}, save_to)
    return loss.item()


with tempfile.TemporaryDirectory() as d:
    f = os.path.join(d, "a.pt")
    main(150, save_to=f)
    print("final", main(200, resume_from=f))
