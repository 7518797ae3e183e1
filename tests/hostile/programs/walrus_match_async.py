# journals: 1
"""Odd syntax around a training loop: match, walrus, await in the body, async for, async with."""
import asyncio

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


class Turn:
    async def __aenter__(self):
        return "turn"

    async def __aexit__(self, *error):
        await asyncio.sleep(0)


async def batches(count):
    for index in range(count):
        await asyncio.sleep(0)
        yield {"kind": "x", "data": torch.randn(8, 4)} if index % 2 else ("pair", torch.randn(8, 4), index)


async def train(name):
    async for batch in batches(4):
        match batch:
            case {"kind": "x", "data": x}:
                label = "dict"
            case ("pair", x, index) if (double := index * 2) >= 0:
                label = f"pair {double}"
        async with Turn() as turn:
            if (loss := net(x).pow(2).mean()) > 1e-9 and (again := [y for z in range(2) if (y := z)]):
                optimizer.zero_grad()
                loss.backward()
                await asyncio.sleep(0)
                optimizer.step()
        print(name, label, turn, again, repr(loss.item()))
    else:
        print(name, "ended", sorted(locals()))


async def main():
    await asyncio.gather(train("a"), train("b"))


asyncio.run(main(), debug=False)
torch.save(net.state_dict(), "final.pt")
