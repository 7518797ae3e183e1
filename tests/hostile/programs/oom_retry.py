# slow
# journals: 1
"""An out-of-memory error is caught and the batch halved, until it fits: a failure that is none."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def find_batch_size(size):
    while True:
        try:
            for step in range(3):
                if size > 4 and step == 1:
                    torch.empty(2**60)
                loss = net(torch.randn(size, 4)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                print(size, step, repr(loss.item()))
            return size
        except RuntimeError as error:
            print(type(error).__name__, len(error.__traceback__.tb_frame.f_locals), "too large:", size)
            trace = error.__traceback__
            while trace:
                print(trace.tb_frame.f_code.co_name, trace.tb_lineno)
                trace = trace.tb_next
            size //= 2


print(find_batch_size(16))
torch.save(net.state_dict(), "final.pt")
