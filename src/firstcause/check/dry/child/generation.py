"""Loops of a library over tokens, or over steps of noise: shortened as those of the user are, where a model is called in them."""

from __future__ import annotations

import ast
import re
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType
from typing import Any

from firstcause.check.dry.child.loops import Transformer, compiled

NAMED = re.compile(r"(?:^|_)(?:generate|sample|sampling|beam|denoise)(?:$|_)")
DEFINED = re.compile(rb"def (?:\w*_)?(?:generate|sample|sampling|beam|denoise)(?:_\w*)?\(")
MODELS = re.compile(rb"^\s*(import|from) torch\b", re.MULTILINE)
# What generates no tokens, or is not to be touched; transformers asks each token whether it is the last, and is told so.
OTHERS = frozenset(["torch", "torchvision", "torchaudio", "firstcause", "numpy", "datasets", "transformers"])


def shortened(name: str, spec: ModuleSpec) -> bool:
    """Whether a module of a library has such loops; its loader then shortens them."""
    if name.partition(".")[0] in OTHERS or type(spec.loader) is not SourceFileLoader:
        return False
    with open(spec.loader.path, "rb") as file:
        source = file.read()
    if not DEFINED.search(source) or not MODELS.search(source):
        return False
    spec.loader = _Loader(spec.loader.name, spec.loader.path)
    return True


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        code: CodeType = compiled(ast.parse(self.get_data(path), path), path, _OfLibrary(path))
        return code


class _OfLibrary(Transformer):
    """Touches the loops of functions that are named so, and nothing else."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.generates = False

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        outer, self.generates = self.generates, self.generates or bool(NAMED.search(node.name))
        found = super().visit_FunctionDef(node)
        self.generates = outer
        return found

    def visit_For(self, node: ast.For) -> ast.AST:
        return super().visit_For(node) if self.generates else self.generic_visit(node)

    def visit_While(self, node: ast.While) -> Any:
        return super().visit_While(node) if self.generates else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self.generic_visit(node)
