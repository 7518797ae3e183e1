# slow
# journals: 1
"""The training loop is text that the script compiles, executes and runs through runpy."""
import linecache
import runpy

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
text = '''
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), __name__)
'''
exec(text)
space = {"torch": torch, "net": net, "__name__": "elsewhere"}
exec(compile(text, "<text>", "exec"), space)
print(sorted(k for k in space if k != "__builtins__"))
linecache.cache["<text>"] = (len(text), None, text.splitlines(True), "<text>")
with open("generated.py", "w") as out:
    out.write(text + "print(sorted(globals()), __file__, __spec__)\n")
result = runpy.run_path("generated.py", {"torch": torch, "net": net}, run_name="__main__")
print(sorted(result), __name__)
exec(compile(open("generated.py").read(), "generated.py", "exec"))
torch.save(net.state_dict(), "final.pt")
