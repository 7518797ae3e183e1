"""The functions and layers of torch that may make a value last, and what each of them makes of it."""

from __future__ import annotations

from typing import Literal

Activation = Literal[
    "softmax", "log-softmax", "sigmoid", "log-sigmoid", "tanh", "relu", "linear", "product", ""
]

FUNCTIONS: dict[str, Activation] = {
    "softmax": "softmax",
    "log_softmax": "log-softmax",
    "sigmoid": "sigmoid",
    "logsigmoid": "log-sigmoid",
    "tanh": "tanh",
    "relu": "relu",
    "linear": "linear",
    "Softmax": "softmax",
    "LogSoftmax": "log-softmax",
    "Sigmoid": "sigmoid",
    "LogSigmoid": "log-sigmoid",
    "Tanh": "tanh",
    "ReLU": "relu",
    "Linear": "linear",
    "Conv1d": "linear",
    "Conv2d": "linear",
    "Conv3d": "linear",
}
