"""Closed sets are decided in one place or exhaustively, so that the type checker sees what a new word lacks.

It sees a ``match`` that ends in ``assert_never``. What it cannot see is looked for here: sets, mappings and chains
of ``elif`` over words, which leave a new one to whatever comes last.
"""

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest

from nettests.model import target_kinds, words
from tests.architecture.test_contracts import ROOT, modules, relative

TABLE = ROOT / "nettests" / "model" / "target_kinds"
LAB = ROOT / "nettests" / "lab"
DESCRIBED = {"Owner", "Location", "Naming", "Proxy", "ShownBy"}
CLOSED = {"OS", "Protocol", "Family", "VantageKind", "Question", "Resolver"} | DESCRIBED
REGISTERS = {"nettests/probes/examiners.py"}
"""Who answers which question: the client for one that nobody registered is told so."""


def listed(*enums: str) -> Iterator[tuple[str, str]]:
    """Yield the places in the harness, and what decides there by listing words of an enum."""
    for path in modules("nettests"):
        if path.is_relative_to(LAB) or relative(path) in REGISTERS:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        for enum in enums:
            for what, line in listings(tree, enum):
                yield f"{relative(path)}:{line}", what


def test_the_sets_are_there() -> None:
    """The names in this module are those of the vocabulary."""
    assert all(hasattr(words, name) or hasattr(target_kinds, name) for name in CLOSED)
    assert hasattr(words, "TargetKind")


def test_nothing_but_the_table_lists_target_kinds() -> None:
    """No set, mapping, chain or ``match`` beside the table of descriptors names several target kinds."""
    found = {place: what for place, what in listed("TargetKind") if str(TABLE) not in place}
    table = str(TABLE.relative_to(ROOT))
    assert {place: what for place, what in found.items() if not place.startswith(table)} == {}


def test_closed_sets_are_decided_exhaustively() -> None:
    """Where several words of a closed set are told apart, a ``match`` does, and no case takes what is left."""
    found = {place: what for place, what in listed(*sorted(CLOSED)) if what != "match"}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("A = {K.A, K.B}", "set"),
        ("A = {K.A: 1, K.B: 2}", "mapping"),
        ("if x is K.A:\n  y\nelif x is K.B:\n  z", "chain"),
        ("match x:\n  case K.A: y\n  case K.B: z", "match"),
        ("match x:\n  case K.A | K.B: y\n  case _: z", "match with a rest"),
    ],
)
def test_a_listing_is_found(text: str, what: str) -> None:
    """Every way of listing several words is seen."""
    assert [found for found, _ in listings(ast.parse(text), "K")] == [what]


@pytest.mark.parametrize(
    "text",
    [
        "A = {K.A, L.B}",
        "if x is K.A:\n  y\nelse:\n  z",
        "match x:\n  case L.A: y\n  case _: z",
    ],
)
def test_one_word_is_no_listing(text: str) -> None:
    """A question about one word alone is none about the set."""
    assert list(listings(ast.parse(text), "K")) == []


def listings(tree: ast.AST, enum: str) -> Iterator[tuple[str, int]]:
    """Yield what lists several members of an enum, and its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts=parts, lineno=line) if several(parts, enum):
                yield "set", line
            case ast.Dict(keys=keys, lineno=line) if several(filter(None, keys), enum):
                yield "mapping", line
            case ast.If(test=first, orelse=[ast.If(test=then)], lineno=line):
                if all(any(is_member(one, enum) for one in ast.walk(t)) for t in (first, then)):
                    yield "chain", line
            case ast.Match(cases=cases, lineno=line):
                if several((one for case in cases for one in ast.walk(case.pattern)), enum):
                    yield "match with a rest" if has_rest(cases) else "match", line


def has_rest(cases: list[ast.match_case]) -> bool:
    """Whether a case takes whatever is left, without ``assert_never``."""
    last = cases[-1]
    takes_all = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    return takes_all and "assert_never" not in ast.unparse(last)


def several(nodes: Iterable[ast.AST], enum: str) -> bool:
    """Whether two or more of the nodes spell members of the enum."""
    named = [node for node in nodes if is_member(node, enum)]
    return any(True for _ in pairwise(named))


def is_member(node: ast.AST, enum: str) -> bool:
    """Whether the node spells a member of the enum."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == enum
    )
