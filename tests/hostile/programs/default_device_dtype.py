# slow
# journals: 1
"""Default device meta, default dtype float64, gradients off and deterministic algorithms on."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
data = torch.randn(6, 8, 4)
torch.set_default_device("meta")
torch.set_default_dtype(torch.float64)
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)
torch.set_float32_matmul_precision("high")
torch.set_printoptions(precision=3)
for step, x in enumerate(data):
    with torch.enable_grad():
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), torch.zeros(1).device, torch.zeros(1).dtype, torch.is_grad_enabled(), loss)
print(torch.get_default_device(), torch.get_num_threads(), torch.get_num_interop_threads() > 0)
torch.save(net.state_dict(), "final.pt")
