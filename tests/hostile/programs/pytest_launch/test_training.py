# slow
# journals: 1
# needs: pytest
# launch: python -m pytest -q -p no:cacheprovider -p no:xdist -p no:randomly --rootdir=. test_training.py
# expect-exit: 1
# scrub: in \d+\.\d+s
"""pytest compiles the module itself, to rewrite its asserts; the marks must not take that away."""
import pytest
import torch


@pytest.fixture
def net():
    torch.manual_seed(0)
    return torch.nn.Linear(4, 1)


@pytest.mark.parametrize("steps", [2, 4])
def test_training(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(steps):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()))
        assert step + len(net.weight) < 4
