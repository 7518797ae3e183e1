import torch
from torch import nn
class Reader(nn.Module):
    def __init__(self, n=16, h=24):
        super().__init__()
        self.emb = nn.Embedding(n, 8); self.cell = nn.LSTM(8, h, batch_first=True); self.out = nn.Linear(h, n)
    def forward(self, x, state=None):
        y, state = self.cell(self.emb(x), state)
        return self.out(y), state
def main():
    torch.manual_seed(0)
    text = torch.randint(0, 16, (4, 400))
    net = Reader(); opt = torch.optim.SGD(net.parameters(), lr=0.1)
    state = None
    for t in range(0, 380, 20):
        logits, state = net(text[:, t:t + 20], state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, t + 1:t + 21].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("final", loss.item())
main()
