"""Variables are called what they are, and by none of the words that could name anything."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.test_contracts import modules, relative

VAGUE = frozenset({"one", "found", "made", "told", "said", "known", "own"})


def bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each variable and parameter with its line; fields of classes are none."""
    fields = {id(target) for node in ast.walk(tree) for target in fields_of(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in fields:
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
                | ast.alias(asname=str(name))
            ):
                yield node.lineno, name


def fields_of(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what is assigned in the body of a class itself."""
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        match statement:
            case ast.AnnAssign(target=target):
                yield target
            case ast.Assign(targets=targets):
                yield from targets


def vague(text: str) -> list[tuple[int, str]]:
    """Return the vague names that a source text binds, in its order."""
    return sorted((line, name) for line, name in bound(ast.parse(text)) if name in VAGUE)


def test_no_variable_has_a_vague_name() -> None:
    """A variable, a parameter and what a loop or comprehension binds are named for what they are."""
    paths = modules("nettests", "suites", "scripts", "bench")
    assert len(paths) > 500
    places = [
        f"{relative(path)}:{line}: {name}"
        for path in paths
        for line, name in vague(path.read_text("utf-8"))
    ]
    assert not places, "\n".join(places)


@pytest.mark.parametrize(
    "text",
    [
        "one = 1",
        "one, other = 1, 2",
        "with opened() as found: pass",
        "for known in range(2): pass",
        "names = [one for one in range(2)]",
        "names = {one: other for other, one in ()}",
        "first = min((), key=lambda own: own)",
        "def read(made): pass",
        "def read(*made, told=()): pass",
        "class Node:\n    def read(self):\n        said = 1",
        "class Node:\n    names = [one for one in ()]",
        "if (found := 1): pass",
        "match 1:\n    case int() as found: pass",
        "match ():\n    case [*found]: pass",
        "match {}:\n    case {**found}: pass",
        "try: pass\nexcept OSError as told: pass",
        "import json as known",
    ],
)
def test_a_vague_name_is_noticed_wherever_it_is_bound(text: str) -> None:
    """Every statement that can bind a name is searched."""
    assert vague(text)


def test_fields_and_uses_of_a_vague_name_are_none_of_variables() -> None:
    """A field may have the name that a written format gives it, and what is only read was bound elsewhere."""
    assert vague("class Node:\n    found: str\n    own = 1\n\n\nprint(told, node.made)") == []
