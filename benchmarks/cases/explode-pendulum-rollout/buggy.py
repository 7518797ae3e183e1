"""Learn the dynamics of a driven pendulum from whole trajectories."""
import torch
from torch import nn

STEPS, DT = 80, 0.1


class Dynamics(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, state, drive):
        return self.net(torch.cat([state, drive], dim=-1))


def rollout(dynamics, start, drive):
    states, state = [], start
    for t in range(drive.shape[1]):
        state = state + DT * dynamics(state, drive[:, t])
        states.append(state)
    return torch.stack(states, dim=1)


def true_dynamics(state, drive):
    angle, speed = state.unbind(-1)
    return torch.stack([speed, -torch.sin(angle) - 0.3 * speed + drive[:, 0]], dim=-1)


class Experiments:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def sample(self, n):
        start = torch.randn(n, 2, generator=self.g)
        drive = 0.5 * torch.randn(n, 1, 1, generator=self.g).expand(n, STEPS, 1)
        return start, drive, rollout(true_dynamics, start, drive)


def main():
    torch.manual_seed(3)
    dynamics, experiments = Dynamics(), Experiments(seed=3)
    optimizer = torch.optim.SGD(dynamics.parameters(), lr=0.05)
    recent = []
    for update in range(120):
        start, drive, truth = experiments.sample(16)
        loss = nn.functional.mse_loss(rollout(dynamics, start, drive), truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent = [*recent[-9:], loss.item()]
        if update % 20 == 0:
            print(f"update {update} loss {loss.item():.4f}")
    print(f"final loss {sum(recent) / len(recent):.4f}")


if __name__ == "__main__":
    main()
