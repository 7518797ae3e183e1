# slow
"""Each spawned process trains: nothing of the parent's recorder may be shared with them."""
import torch
import torch.multiprocessing as mp


def work(rank, factor):
    torch.manual_seed(rank)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05 * factor)
    for step in range(4):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with open(f"rank-{rank}.txt", "w") as out:
        print(repr(loss.item()), __name__, mp.current_process().name, file=out)
    torch.save(net.state_dict(), f"final-{rank}.pt")


if __name__ == "__main__":
    mp.spawn(work, args=(2.0,), nprocs=2)
    print("joined")
