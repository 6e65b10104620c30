"""Who adds a protocol is led by decision 0038 to every place that has to decide about it."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECISION = ROOT / "docs" / "decisions" / "0038-one-descriptor.md"


def _words(case: ast.match_case) -> Iterator[ast.expr]:
    for pattern in ast.walk(case.pattern):
        if isinstance(pattern, ast.MatchValue):
            yield pattern.value


def _by_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.Match) and any(
        isinstance(word, ast.Attribute)
        and isinstance(word.value, ast.Name)
        and word.value.id == "Protocol"
        for case in node.cases
        for word in _words(case)
    )


def _places() -> set[tuple[str, str]]:
    """Return file and name of every function that tells protocols apart by ``match``."""
    return {
        (file.relative_to(ROOT).as_posix(), function.name)
        for file in (ROOT / "nettests").rglob("*.py")
        if "lab" not in file.relative_to(ROOT).parts
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef) and any(map(_by_protocol, ast.walk(function)))
    }


def _named() -> set[tuple[str, str]]:
    """Return file and function of each row of the decision's table."""
    # sample: "| `nettests/probes/endpoint.py` | `path`, `requests` | what may be sent |"
    rows = [line.split("|") for line in DECISION.read_text(encoding="utf-8").splitlines()]
    return {
        (cells[1].strip(" `"), name.strip(" `"))
        for cells in rows
        if len(cells) == 5 and cells[1].strip(" `").endswith(".py")
        for name in cells[2].split(",")
    }


def test_every_place_that_decides_by_protocol_is_named() -> None:
    """The table of decision 0038 has exactly the functions that match on a protocol."""
    assert _named() == _places()
