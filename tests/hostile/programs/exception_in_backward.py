# slow
# journals: 1
# expect-exit: 1
"""An error raised by the user's own autograd function, below C++ frames, in the loop at module level."""
import torch

torch.manual_seed(0)


class Picky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if step == 2:
            raise ArithmeticError("no gradient here")
        return grad * 2


net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(4):
    loss = Picky.apply(net(torch.randn(8, 4))).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print(step, repr(loss.item()))
