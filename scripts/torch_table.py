"""Make the table of arguments of torch's own classes from the torch that is installed.

    python scripts/torch_table.py

Read by ``ast``, nothing is imported. Torch keeps the arguments of these classes from version to version; those that it has
taken away are in ``STILL``, so that a program for an older version is not blamed.
"""

from __future__ import annotations

import ast
import importlib.metadata
import json
import sys
from pathlib import Path

TABLE = Path(__file__).parent.parent / "src/firstcause/catalog/check/arguments/torch.json"
# Files with public classes, and the names under which these are called.
FILES = {
    "utils/data/dataloader.py": "utils.data.",
    "utils/data/distributed.py": "utils.data.distributed.",
    "nn/modules/linear.py": "nn.",
    "nn/modules/conv.py": "nn.",
    "nn/modules/dropout.py": "nn.",
    "nn/modules/batchnorm.py": "nn.",
    "nn/modules/normalization.py": "nn.",
    "nn/modules/pooling.py": "nn.",
    "nn/modules/sparse.py": "nn.",
    "nn/modules/transformer.py": "nn.",
    "nn/modules/loss.py": "nn.",
    **{
        f"optim/{n}.py": "optim."
        for n in ("adam", "adamw", "sgd", "rmsprop", "adagrad", "nadam", "radam", "adamax")
    },
}
STILL = {"utils.data.DataLoader": ("pin_memory_device",)}


def main() -> int:
    torch = Path(str(importlib.metadata.distribution("torch").locate_file("torch")))
    version = importlib.metadata.version("torch").partition("+")[0]
    calls: dict[str, dict[str, list[int]]] = {}
    for file, prefix in FILES.items():
        classes = {
            n.name: n for n in ast.parse((torch / file).read_text()).body if isinstance(n, ast.ClassDef)
        }
        for name, cls in classes.items():
            arguments = _arguments(classes, cls)
            if arguments and not name.startswith("_"):
                known = {a: [0, 0] for a in (*arguments, *STILL.get(prefix + name, ()))}
                calls[prefix + name] = known
    table = {"library": "torch", "versions": [version], "calls": calls, "exports": {}}
    TABLE.write_text(json.dumps(table, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")
    print(len(calls), "calls")
    return 0


def _arguments(classes: dict[str, ast.ClassDef], cls: ast.ClassDef) -> list[str]:
    """The arguments of a class's __init__, or of the nearest base's in the same file; none where they are not told."""
    inits = [n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    if inits:
        # The last definition is the one that counts; those before it are overloads.
        given = inits[-1].args
        if given.vararg is not None:
            return []
        named = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg != "self"]
        return [*named, "**"] if given.kwarg is not None else named
    bases = [classes[n] for b in cls.bases if (n := ast.unparse(b).partition("[")[0]) in classes]
    return _arguments(classes, bases[0]) if bases else []


if __name__ == "__main__":
    sys.exit(main())
