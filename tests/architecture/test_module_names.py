"""What modules are called: nothing named like the standard library, no neighbours of one name."""

import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "nettests"
STAGES = {
    ("nettests.probes.many_services", "nettests.parse.many_services"),
    ("nettests.probes.host_facts", "nettests.parse.host_facts"),
    ("nettests.probes.workloads", "nettests.parse.workloads"),
}
"""What probes read or count, and its parser: two stages of one thing have its name."""


def modules() -> Iterator[Path]:
    """Every module and package of the product, the lab with it."""
    for path in PACKAGE.rglob("*.py"):
        if path.name == "__init__.py":
            yield path.parent
        elif path.name != "__main__.py":
            yield path


def dotted(path: Path) -> str:
    """The name by which a module is imported."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def test_no_module_is_named_like_the_standard_library() -> None:
    """No module or package has the name of one that Python brings along."""
    named = [dotted(path) for path in modules() if path.stem in sys.stdlib_module_names]
    assert len(list(modules())) > 500
    assert named == []


def test_no_module_imports_another_of_its_own_name() -> None:
    """A module and what it imports are told apart by their last name, too."""
    by_name: dict[str, list[Path]] = {}
    for path in modules():
        if path.is_file():
            by_name.setdefault(path.stem, []).append(path)
    alike = {
        (dotted(one), dotted(other))
        for paths in by_name.values()
        for one, other in permutations(paths, 2)
        if f"from {dotted(other)} import" in one.read_text("utf-8")
        or f"from {dotted(other.parent)} import {other.stem}" in one.read_text("utf-8")
    }
    assert alike - STAGES == set()
