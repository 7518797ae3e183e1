# slow
# journals: 1
"""Steps with bad gradients are skipped, rolled back or cleaned by the program itself."""
import copy

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
good = copy.deepcopy((net.state_dict(), optimizer.state_dict()))
for step in range(10):
    loss = net(torch.randn(8, 4)).pow(2).mean() * {3: float("nan"), 5: float("inf"), 7: float("nan")}.get(step, 1.0)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=False)
    if step == 3:
        print("skipped")
        continue
    if step == 5:
        for p in net.parameters():
            torch.nan_to_num_(p.grad, 0.0, 0.0, 0.0)
    optimizer.step()
    if not all(torch.isfinite(p).all() for p in net.parameters()):
        print("rolled back")
        net.load_state_dict(good[0])
        optimizer.load_state_dict(good[1])
    good = copy.deepcopy((net.state_dict(), optimizer.state_dict()))
    print(step, repr(loss.item()), repr(norm.item()))
torch.save(good, "final.pt")
