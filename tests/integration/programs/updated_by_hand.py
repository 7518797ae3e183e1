import torch
torch.manual_seed(0)
w = torch.randn(5, 5, requires_grad=True); v = torch.randn(5, 1, requires_grad=True)
def update(params, lr=0.01):
    with torch.no_grad():
        for p in params:
            if p.grad is not None:
                p -= lr * p.grad
                p.grad = None
opt = torch.optim.SGD([v], 0.01)
for step in range(10):
    x = torch.randn(6, 5)
    h = torch.tanh(x @ w)
    out = h @ w @ v
    aux = (h @ w).pow(2).mean()
    aux.backward(retain_graph=True)
    update([w])
    loss = (out.squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final", loss.item())
