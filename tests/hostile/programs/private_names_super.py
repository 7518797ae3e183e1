# journals: 1
"""Name-mangled attributes and zero-argument super() inside the training loop's method."""
import torch

torch.manual_seed(0)


class Base:
    def scale(self):
        return 0.5


class Trainer(Base):
    def __init__(self):
        self.__net = torch.nn.Linear(4, 1)
        self.__optimizer = torch.optim.Adam(self.__net.parameters(), lr=0.01)
        self.__count = 0

    def scale(self):
        return 3.0

    def fit(self):
        for __step in range(6):
            loss = self.__net(torch.randn(8, 4)).pow(2).mean() * super().scale() * __class__.scale(self)
            self.__optimizer.zero_grad()
            loss.backward()
            self.__optimizer.step()
            self.__count += 1
            print(__step, repr(loss.item()), self.__count, sorted(locals()))
        torch.save(self.__net.state_dict(), "final.pt")


trainer = Trainer()
trainer.fit()
print(sorted(vars(trainer)))
