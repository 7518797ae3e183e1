# Grain of polished stone, 24 x 24 gray patches.
import torch
import torch.nn as nn


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class StoneNet(nn.Module):
    def __init__(self, layers, classes):
        super().__init__()
        self.inplanes = 12
        self.stem = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU(inplace=True))
        self.layer1 = self._make_layer(12, layers[0])
        self.layer2 = self._make_layer(20, layers[1], stride=2)
        self.layer3 = self._make_layer(28, layers[2], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(28 * Bottleneck.expansion, classes)

    def _make_layer(self, planes, count, stride=1):
        downsample = None
        if stride != 1:
            downsample = nn.Sequential(
                nn.Conv2d(self.inplanes, planes * Bottleneck.expansion, 1, stride=stride, bias=False),
                nn.BatchNorm2d(planes * Bottleneck.expansion),
            )
        blocks = [Bottleneck(self.inplanes, planes, stride, downsample)]
        self.inplanes = planes * Bottleneck.expansion
        blocks += [Bottleneck(self.inplanes, planes) for _ in range(1, count)]
        return nn.Sequential(*blocks)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.stem(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def patches(n, seed):
    g = torch.Generator().manual_seed(seed)
    stone = torch.randint(0, 4, (n,), generator=g)
    noise = torch.randn(n, 1, 24, 24, generator=g)
    smooth = [noise] + [nn.functional.avg_pool2d(noise, k, 1, k // 2) * k for k in (3, 5, 7)]
    return torch.stack(smooth)[stone, torch.arange(n)], stone


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = patches(256, seed=1)
    model = StoneNet([2, 2, 1], classes=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for step, (xb, yb) in enumerate(zip(x.split(32), y.split(32))):
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")
