# journals: 1
"""The loop's body stands at Python's limit of 20 nested blocks; one more would be a SyntaxError."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


for i0 in range(1):
    for i1 in range(1):
        for i2 in range(1):
            for i3 in range(2):
                for i4 in range(1):
                    for i5 in range(1):
                        for i6 in range(1):
                            for i7 in range(1):
                                for i8 in range(1):
                                    for i9 in range(1):
                                        for i10 in range(1):
                                            for i11 in range(1):
                                                for i12 in range(1):
                                                    for i13 in range(1):
                                                        for i14 in range(1):
                                                            for i15 in range(1):
                                                                for i16 in range(1):
                                                                    for i17 in range(1):
                                                                        for i18 in range(1):
                                                                            for step in range(2):
                                                                                loss = net(torch.randn(8, 4)).pow(2).mean()
                                                                                optimizer.zero_grad()
                                                                                loss.backward()
                                                                                optimizer.step()
                                                                                print(step, repr(loss.item()))
torch.save(net.state_dict(), "final.pt")
