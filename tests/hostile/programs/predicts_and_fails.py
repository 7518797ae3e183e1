"""No training: calls of models in every position, tracebacks printed, arguments that can be walked through once."""
import sys
import threading
import traceback
import weakref

import torch

torch.manual_seed(0)


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(12, 4)
        self.drop = torch.nn.Dropout(0.5)
        self.head = torch.nn.Linear(4, 3)

    def forward(self, ids, *more, scale=1.0, **options):
        hidden = self.drop(self.table(ids)).mean(1)
        for extra in more:
            hidden = hidden + extra
        return self.head(hidden) * scale

    @torch.no_grad()
    def predict(self, ids):
        "The first statement is a docstring."
        return self(ids).argmax(-1)


model = Tagger().train()
names = {"model": model}
models = [model]
print(model.predict.__doc__, model.predict(torch.tensor([[1, 2]])))
with torch.no_grad():
    ids = torch.randint(0, 12, (2, 3))
    print(model(ids), names["model"](ids, *(torch.ones(4) for _ in range(2)), **{"scale": 2.0}), models[-1](ids))
    print([model(i[None]).sum().item() for i in ids], (lambda m: m(ids).sum())(model))
    if model(ids).sum() > 100:
        print("large")
    elif (found := model(ids)).sum() < 100:
        print("small", found.shape)
    while model(ids).isnan().any():
        pass
    for row in model(ids):
        print(row)
        break
    with torch.autocast("cpu", enabled=bool(model(ids).sum() > 100)):
        x = y = model(ids)
    x += model(ids, scale=
               3.0)
    print(x)


@torch.inference_mode()
def answer(ids):
    scores = model(
        torch.tensor(ids)
    )
    return scores.sum().item()


def request(ids):
    try:
        print("answer", answer(ids))
    except Exception:
        traceback.print_exc(file=sys.stdout)


for ids in ([[1, 2]], [[1, 40]], [[3, 4]], [[1], [2, 3]], [[-1]]):
    request(ids)
    thread = threading.Thread(target=request, args=(ids,))
    thread.start()
    thread.join()


def stream(ids):
    with torch.no_grad():
        for _ in range(3):
            yield model(ids)


print(sum(stream(torch.tensor([[1, 2]]))))
for part in stream(torch.tensor([[1, 2]])):
    break
held = torch.tensor([[1, 2]])
gone = weakref.ref(held)
with torch.no_grad():
    model(held)
del held
print("let go", gone() is None)
half = torch.full((2, 4), float("nan"))
with torch.no_grad():
    print(model.head(half), torch.rand(2))
print(torch.rand(2))
