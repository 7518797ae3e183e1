# journals: 1
# launch: python {file} --learning_rate=0.1
"""nanoGPT's configuration: the script's global names are its options, read and changed by exec."""
import sys

import torch

learning_rate = 0.05
batch_size = 8
name = "nano"
config_keys = [k for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, bool, str))]
for argument in sys.argv[1:]:
    exec(argument.lstrip("-"))
config = {k: globals()[k] for k in config_keys}
print(config)
print(list(globals()), dir(), sorted(vars()), sep="\n")
torch.manual_seed(0)


def train(rate, steps=4):
    cfg = locals()
    print(cfg)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for step in range(steps):
        before = list(locals())
        loss = net(torch.randn(batch_size, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()), before, dir() == list(sorted(locals())))
    return {**config, "names": list(locals()), "net": net.state_dict()}


torch.save(train(learning_rate), "final.pt")
print(list(globals()), len(locals()), sep="\n")
