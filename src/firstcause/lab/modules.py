"""Which module runs, and what a parameter is called: paths as ``named_modules`` gives them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import torch

from firstcause.lab import places


class ModuleStack:
    """The modules that are running, innermost last; global hooks, so in a sealed child only."""

    def __init__(
        self, roots: Mapping[str, torch.nn.Module], origin: Callable[[torch.Tensor], dict[str, Any]]
    ) -> None:
        self.origin = origin
        self.running: list[torch.nn.Module] = []
        self._inputs: list[list[dict[str, Any]]] = []
        self.paths: dict[int, str] = {}
        self.names: dict[int, str] = {}
        self._all: list[torch.nn.Module] = []
        # The shortest path last, so that it is the one that stays.
        for path, root in sorted(roots.items(), key=lambda item: -len(item[0])):
            for child_path, child in root.named_modules(prefix=path):
                self.paths[id(child)] = child_path
                self._all.append(child)
                for name, tensor in (
                    *child.named_parameters(recurse=False),
                    *child.named_buffers(recurse=False),
                ):
                    self.names[id(tensor)] = f"{child_path}.{name}"
        self._hooks: list[Any] = []

    def attach(self) -> None:
        module = torch.nn.modules.module
        self._hooks = [
            module.register_module_forward_pre_hook(self._enter),
            module.register_module_forward_hook(lambda m, inputs, output: self._leave(m), always_call=True),
        ]

    def detach(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        self.running.append(module)
        self._inputs.append([self.origin(x) for x in inputs if isinstance(x, torch.Tensor)])

    def _leave(self, module: torch.nn.Module) -> None:
        while self.running:
            self._inputs.pop()
            if self.running.pop() is module:
                break

    def path(self) -> str | None:
        return self.path_of(self.running[-1]) if self.running else None

    def path_of(self, module: torch.nn.Module) -> str:
        return self.paths.get(id(module), type(module).__name__)

    def all(self) -> list[torch.nn.Module]:
        """Every module beneath the program's own."""
        return list(self._all)

    def innermost(self) -> dict[str, Any] | None:
        """The module that is running: path, class, its file's module, settings."""
        return self.describe(self.running[-1]) if self.running else None

    def stack(self) -> list[dict[str, Any]]:
        """The running modules from the root to the innermost: path, class, its file's module, settings, inputs."""
        return [self.describe(m) | {"inputs": i} for m, i in zip(self.running, self._inputs, strict=True)]

    def owners(self) -> dict[str, str]:
        """The paths of modules whose class is the program's, with the class."""
        program = {m.__name__ for m in sys.modules.values() if places.is_user_module(m)}
        return {self.paths[id(m)]: type(m).__name__ for m in self._all if type(m).__module__ in program}

    def describe(self, module: torch.nn.Module) -> dict[str, Any]:
        settings = {
            k: v
            for k, v in module.__dict__.items()
            if isinstance(v, (int, float, bool, str)) and not k.startswith("_")
        }
        return {
            "path": self.path_of(module),
            "class": type(module).__name__,
            "defined_in": type(module).__module__,
            "settings": settings,
        }

    def plain_attribute(self, tensor: torch.Tensor) -> dict[str, Any] | None:
        """The module that holds a tensor as a plain attribute, and what its parameters are: dtype and device.

        A plain attribute is neither parameter nor buffer, so ``to``, ``double`` and ``state_dict`` leave it out.
        """
        running = [self.running[-1]] if self.running else []
        for module in [*running, *(m for m in self._all if m not in running)]:
            for name, value in vars(module).items():
                if value is tensor or (isinstance(value, (list, tuple)) and any(v is tensor for v in value)):
                    # Of a module without any: those of the modules that it runs in, which were moved together.
                    around = (*reversed(self.running), *self._all)
                    held = (p for m in (module, *around) for p in m.parameters())
                    own = next((p for p in held if p.is_floating_point()), None)
                    return {
                        "path": self.path_of(module),
                        "class": type(module).__name__,
                        "name": name,
                        "parameters": None if own is None else [str(own.dtype)[6:], str(own.device)],
                    }
        return None

    def tensor_name(self, tensor: torch.Tensor) -> str | None:
        return self.names.get(id(tensor))
