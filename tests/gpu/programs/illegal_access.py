"""A kernel of the program's own that is told a stride of another layout, and writes far outside of its tensor."""

import sys

import torch
from torch import nn

SOURCE = """
extern "C" __global__ void scale(float* out, int stride) {
    out[(long long) threadIdx.x * stride * 16] *= 2.0f;
}
"""
device = sys.argv[1]
torch.manual_seed(0)
scale = torch.cuda._compile_kernel(SOURCE, "scale")
model = nn.Linear(16, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(8):
    x = torch.randn(32, 16, device=device)
    stride = 1 if step < 5 else 1 << 28
    scale(grid=(1, 1, 1), block=(32, 1, 1), args=[x, stride])  # here
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), flush=True)
