"""The normal form of a task's source: what two files share that differ in names, layout, comments and sizes only.

Every class and function is one form. Names that the file itself gives (arguments, locals, attributes of self, its own
classes and functions) are numbered in order of appearance; numbers that are sizes become one sign; docstrings, annotations,
decorators and parentheses are gone. What is left are calls, operators and constants that are no numbers.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator

LEAST_CALLS = 1  # a form that calls and computes nothing says nothing


class Normal(ast.NodeTransformer):
    """Renames what is the file's own. `kept`: names that come from outside, such as torch and F."""

    def __init__(self, kept: set[str], numbers: bool) -> None:
        self.kept, self.numbers = kept, numbers
        self.names: dict[str, str] = {}

    def renamed(self, name: str) -> str:
        return name if name in self.kept else self.names.setdefault(name, f"v{len(self.names)}")

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.renamed(node.id), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        value = self.visit(node.value)
        return ast.Attribute(value, self.renamed("self." + node.attr) if own else node.attr, ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        return ast.Constant("number") if number and not self.numbers else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        node = self.generic_visit(node)
        inner = node.operand
        return inner if isinstance(inner, ast.Constant) and inner.value == "number" else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self.renamed(node.arg))

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        return ast.keyword(node.arg, self.visit(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.visit(ast.Assign([node.target], node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        name = self.renamed("self." + node.name) if node.name != "__init__" else node.name
        arguments = self.visit(node.args)
        arguments.defaults, arguments.kw_defaults = [], []
        return ast.FunctionDef(name, arguments, self.body(node), [], None)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        bases = [self.visit(base) for base in node.bases]
        return ast.ClassDef(self.renamed(node.name), bases, [], self.body(node), [])

    def body(self, node: ast.AST) -> list[ast.stmt]:
        statements = [one for one in node.body if not is_text(one)]
        return [made for made in map(self.visit, statements) if made is not None]


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def imported(tree: ast.Module) -> set[str]:
    """The names that come from outside, as the file calls them; `import torch.nn.functional as F` keeps F."""
    names = {"self", "super", "range", "len", "float", "int", "max", "min", "sum", "enumerate", "zip"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def unaliased(tree: ast.Module) -> ast.Module:
    """nn.Linear is torch.nn.Linear, whatever the file calls the package."""
    full: dict[str, str] = {"nn": "torch.nn", "F": "torch.nn.functional"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            full |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            full |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    class Whole(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse(full[node.id], mode="eval").body if node.id in full else node

    return Whole().visit(tree)


def computes(node: ast.AST) -> bool:
    calls = sum(isinstance(one, ast.Call | ast.BinOp) for one in ast.walk(node))
    return calls >= LEAST_CALLS


def parts(tree: ast.Module) -> Iterator[ast.stmt]:
    """Classes, functions, and forward alone: a function elsewhere may be what a class here does."""
    drawing = {"get_inputs", "get_init_inputs"}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in drawing:
            if not node.name.startswith("test_"):
                yield node


def hashes(source: str) -> dict[str, str]:
    """{class or function: hash of its normal form}. A SyntaxError where it is no Python."""
    tree = unaliased(ast.parse(source))
    kept = imported(tree) | {"torch"}
    return {node.name: hash_of(Normal(kept, numbers=False).visit(node)) for node in parts(tree) if computes(node)}


def file_hash(source: str) -> str:
    """Of a whole file with its sizes: files that have the same differ in names, comments and layout only."""
    tree = unaliased(ast.parse(source))
    normal = Normal(imported(tree) | {"torch"}, numbers=True)
    return hash_of(ast.Module([normal.visit(node) for node in tree.body if not is_text(node)], []))


def hash_of(form: ast.AST) -> str:
    return hashlib.sha256(ast.dump(form).encode()).hexdigest()
