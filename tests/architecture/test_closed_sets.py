"""Closed sets are decided in one place, or exhaustively: what the type checker cannot see is looked for here."""

import ast
from collections.abc import Iterator

from tests.architecture.test_contracts import ROOT, modules, relative

TABLE = ROOT / "nettests" / "model" / "target_kinds"
WORDS = ROOT / "nettests" / "model" / "words.py"
LAB = ROOT / "nettests" / "lab"


def test_nothing_but_the_table_lists_target_kinds() -> None:
    """No set, mapping or ``match`` beside the table of descriptors names several target kinds."""
    found = {
        f"{relative(path)}:{line}"
        for path in modules("nettests")
        if not path.is_relative_to(TABLE) and not path.is_relative_to(LAB) and path != WORDS
        for line in listings(path.read_text("utf-8"), "TargetKind")
    }
    assert found == set()


def test_a_listing_is_found() -> None:
    """The test above sees sets, keys of mappings, and cases."""
    text = (
        "A = {K.A, K.B}\nB = {K.A: 1, K.B: 2}\nmatch x:\n  case K.A: 1\n  case K.B: 2\nC = (K.A, 1)"
    )
    assert sorted(listings(text, "K")) == [1, 2, 3]


def listings(text: str, enum: str) -> Iterator[int]:
    """Yield the lines where several members of an enum are listed."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Set(elts=parts, lineno=line) | ast.Tuple(elts=parts, lineno=line):
                named = [one for one in parts if is_member(one, enum)]
            case ast.Dict(keys=keys, lineno=line):
                named = [key for key in keys if key is not None and is_member(key, enum)]
            case ast.Match(cases=cases, lineno=line):
                every = (one for case in cases for one in ast.walk(case.pattern))
                named = [one for one in every if isinstance(one, ast.expr) and is_member(one, enum)]
            case _:
                continue
        if len(named) > 1:
            yield line


def is_member(node: ast.AST, enum: str) -> bool:
    """Whether the node spells a member of the enum."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == enum
    )
