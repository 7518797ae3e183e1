# journals: 1
"""The program catches everything, BaseException included, around the step that turns NaN."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
retries = 0


def train_step(step):
    global retries
    for attempt in range(3):
        try:
            loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 2 else 1.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss
        except:
            retries += 1
            print("retry", attempt)
            with open("retries.txt", "a") as out:
                out.write(f"{step} {attempt}\n")
        finally:
            print("finally", step)


for step in range(5):
    try:
        print(step, repr(train_step(step).item()), retries)
    except BaseException as error:
        print("outer", type(error))
torch.save(net.state_dict(), "final.pt")
