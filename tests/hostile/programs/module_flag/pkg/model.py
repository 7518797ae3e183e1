from torch import nn

from . import __name__ as package


def build():
    print(__name__, package, __spec__.name)
    return nn.Linear(4, 1)
