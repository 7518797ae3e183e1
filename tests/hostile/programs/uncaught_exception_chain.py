# journals: 1
# expect-exit: 1
"""An exception raised from another, with notes of its own and a context, in the training step."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


class BatchError(ValueError):
    def __str__(self):
        return "a batch\nof two lines"


def train_step(step):
    try:
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if step == 2:
            {}["missing"]
    except KeyError as error:
        try:
            raise BatchError from error
        except BatchError as second:
            if hasattr(second, "add_note"):
                second.add_note("a note")
            1 / 0
    optimizer.step()


for step in range(5):
    train_step(step)
