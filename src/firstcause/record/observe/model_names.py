"""The names under which the project's models go, by how they are made and handed on, over all of its files."""

from __future__ import annotations

import ast

# Calls whose value is a model whatever the project's own classes are called.
MAKERS = frozenset(
    {"from_pretrained", "Sequential", "pipeline", "DataParallel", "load_from_checkpoint", "script"}
)
# Methods of a model that give the model itself.
HANDING_ON = frozenset(
    {"eval", "train", "to", "cuda", "cpu", "half", "bfloat16", "float", "double", "requires_grad_", "compile"}
)
# On nothing but a model.
ONLY_MODELS = frozenset({"eval", "requires_grad_", "load_state_dict"})


class ModelNames:
    """Collects from each file what is made, assigned and returned; ``closed`` follows it to the end."""

    def __init__(self) -> None:
        self.functions: set[str] = set()
        self._bases: dict[str, set[str]] = {}
        self._from: list[tuple[str, str]] = []
        self._sure: set[str] = set()

    def read(self, tree: ast.Module) -> None:
        """Add one file."""
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._bases.setdefault(node.name, set()).update(map(last_name, node.bases))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._function(node)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assigned(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                self._assigned(node.target, node.value)
            elif isinstance(node, ast.Call):
                self._called(node)

    def closed(self) -> set[str]:
        """Every name that a model goes by."""
        made = set(MAKERS)
        while grown := {
            c for c, b in self._bases.items() if c not in made and any(_is_module(x, made) for x in b)
        }:
            made |= grown
        names = set(self._sure)
        while new := {to for to, source in self._from if to not in names and source in names | made}:
            names |= new
        return names

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.functions.add(node.name)
        for argument in (*node.args.args, *node.args.kwonlyargs):
            if argument.annotation is not None and last_name(argument.annotation).endswith("Module"):
                self._sure.add(argument.arg)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                # As if the function's name were a variable that holds what it gives.
                self._assigned(ast.Name(node.name), inner.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            for one, given in zip(target.elts, value.elts, strict=True):
                self._assigned(one, given)
            return
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        self._flows(*((last_name(t), _source(v)) for t in targets for v in values))

    def _called(self, node: ast.Call) -> None:
        function = node.func
        # A data frame has an eval too, with an argument.
        is_eval = isinstance(function, ast.Attribute) and function.attr == "eval" and bool(node.args)
        if isinstance(function, ast.Attribute) and function.attr in ONLY_MODELS and not is_eval:
            self._sure |= {last_name(function.value)} - {""}
        # A parameter goes by what it is given.
        for keyword in node.keywords:
            if keyword.arg is not None:
                self._flows((keyword.arg, _source(keyword.value)))

    def _flows(self, *pairs: tuple[str, str]) -> None:
        self._from += [pair for pair in pairs if all(pair)]


def _source(value: ast.expr) -> str:
    """The last name behind a value: of the class or function that is called, or of the variable."""
    while isinstance(value, ast.Call):
        function = value.func
        if isinstance(function, ast.Attribute) and function.attr in HANDING_ON:
            # torch.compile(model) hands on its argument, model.to(device) its object.
            value = value.args[0] if function.attr == "compile" and value.args else function.value
        else:
            return last_name(function)
    return last_name(value)


def _is_module(base: str, made: set[str]) -> bool:
    return base in made or base.endswith("Module") or base.startswith("PreTrained")


def last_name(node: ast.expr) -> str:
    """``a.b.c`` gives ``c``, ``a.b[0]`` gives ``b``."""
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
