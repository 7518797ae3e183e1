# journals: 1
"""Sparse, complex, empty, missing, half-precision, integer-buffer and shared parameters."""
import torch

torch.manual_seed(0)
table = torch.nn.Embedding(10, 4, sparse=True)
odd = torch.nn.ParameterDict({
    "a_complex": torch.nn.Parameter(torch.randn(4, dtype=torch.complex64)),
    "a_empty": torch.nn.Parameter(torch.empty(0, 4)),
    "a_half": torch.nn.Parameter(torch.randn(4, dtype=torch.bfloat16)),
    "a_double": torch.nn.Parameter(torch.randn(4, dtype=torch.float64)),
    "a_unused": torch.nn.Parameter(torch.randn(4)),
    "a_frozen": torch.nn.Parameter(torch.randn(4), requires_grad=False),
    "a_scalar": torch.nn.Parameter(torch.tensor(2.0)),
    "a_strided": torch.nn.Parameter(torch.randn(8)[::2]),
})
optimizer = torch.optim.SGD([*table.parameters(), *odd.values()], lr=0.05)
sparse_optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.01)
for step in range(4):
    x = table(torch.randint(10, (6,))).sum(0) * odd["a_strided"]
    loss = (x * odd["a_complex"]).abs().sum() + odd["a_empty"].sum() + (x * odd["a_half"]).sum().float() + (x * odd["a_double"]).sum()
    loss = loss.float() * odd["a_scalar"]
    optimizer.zero_grad()
    loss.backward()
    (sparse_optimizer if step % 2 else optimizer).step()
    print(step, repr(loss.item()), table.weight.grad.is_sparse, table.weight.grad.is_coalesced(), odd["a_unused"].grad)
torch.save([table.state_dict(), odd.state_dict()], "final.pt")
