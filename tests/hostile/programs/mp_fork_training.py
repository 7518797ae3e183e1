# journals: 1
"""The parent trains, forks two children that train on from there in shared memory, and trains again."""
import torch
import torch.multiprocessing as mp

torch.manual_seed(0)
torch.set_num_threads(1)


def train(net, steps, rank):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(steps):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with open(f"train-{rank}.txt", "a") as out:
        print(repr(loss.item()), file=out)


net = torch.nn.Linear(4, 1)
train(net, 2, "parent")
shared = [torch.nn.Linear(4, 1).share_memory() for _ in range(2)]
context = mp.get_context("fork")
children = [context.Process(target=train, args=(s, 3, rank)) for rank, s in enumerate(shared)]
for child in children:
    child.start()
for child in children:
    child.join()
    print(child.name, child.exitcode)
train(net, 3, "parent")
torch.save([net.state_dict(), *(s.state_dict() for s in shared)], "final.pt")
