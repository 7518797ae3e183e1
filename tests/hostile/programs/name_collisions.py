# journals: 1
"""The script's own names are those that marks, replays and compilers would like to use."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = (torch.randn(8, 4) for _ in range(9))
mark = names = again = Rewind = is_compiling = firstcause = record = observe = unit = snapshot = "mine"
__fc__ = __fc_step__ = __fc_mark__ = __fc_again__ = __fc_Rewind__ = __firstcause__ = _fc = "mine too"


def train(BaseException, Exception, len, type, iter, tuple, getattr, isinstance, print=print, range=range):
    for step in range(4):
        global NameError, UnboundLocalError, globals, locals, sys, builtins
        NameError = UnboundLocalError = globals = locals = sys = builtins = BaseException = step
        loss = net(next(data)).pow(2).mean()
        optimizer.zero_grad()
        (loss * 2).backward()
        optimizer.step()
        print(step, repr(loss.item()), mark, __fc_again__)


train(*"abcdefgh")
for torch.extra, isinstance in enumerate("ab"):
    range = iter = BaseException = type = len = None
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()), torch.extra, isinstance)
torch.save(net.state_dict(), "final.pt")
