"""``make coverage``: what is demanded of each package, and how lines of tests are counted."""

from pathlib import Path
from typing import Any

import pytest

from scripts import measure_coverage as script

ROOT = Path(__file__).parents[2]


def measured(lines: int, run: int, branches: int = 0, taken: int = 0) -> dict[str, Any]:
    """Return what coverage.py says of one file."""
    counted = {
        "num_statements": lines,
        "covered_lines": run,
        "num_branches": branches,
        "covered_branches": taken,
    }
    return {"summary": counted}


def test_files_of_a_package_are_added_up() -> None:
    """Those in folders of it, too; lines and branches are shares of their own."""
    found = script.shares(
        {
            "files": {
                "nettests/plan/a.py": measured(10, 9, 4, 1),
                "nettests/report/incidents/b.py": measured(5, 5, 2, 2),
                "nettests/plan/b.py": measured(10, 10, 4, 4),
            }
        }
    )
    assert found["plan"].percentages == (95.0, 62.5)
    assert found["report"].percentages == (100.0, 100.0)


@pytest.mark.parametrize(
    ("share", "enough"),
    [
        ((100, 95, 100, 95), True),
        ((100, 94, 100, 100), False),
        ((100, 100, 100, 94), False),
        ((10, 10, 0, 0), True),
    ],
)
def test_95_per_cent_of_both_are_demanded(
    share: tuple[int, int, int, int], *, enough: bool
) -> None:
    """Of lines and of branches: one does not make up for the other."""
    file = {"nettests/plan/a.py": measured(*share)}
    (found,) = script.shares({"files": file}).values()
    assert found.enough is enough
    assert ("below 95 %" in script.table({"plan": found})) is not enough


def test_a_package_may_spoil_the_whole() -> None:
    """The table has a line for all of them, which may be in order where one is not."""
    files = {"nettests/plan/a.py": measured(10, 9), "nettests/judge/a.py": measured(990, 990)}
    lines = script.table(script.shares({"files": files})).splitlines()
    marked = {line.split()[0] for line in lines if "below" in line}
    assert marked == {"plan"}
    assert lines[-1].split()[:3] == ["total", "1000", "99.9"]


def test_lines_of_tests_stand_beside_lines_of_code(tmp_path: Path) -> None:
    """A package's tests are those in the folder of its name; the one with the fewest comes first."""
    for path, count in (
        ("nettests/few/__init__.py", 4),
        ("nettests/few/part/more.py", 6),
        ("nettests/many/__init__.py", 10),
        ("tests/few/test_it.py", 5),
        ("tests/many/deep/test_it.py", 20),
        ("tests/many/data.txt", 99),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x\n" * count)
    (tmp_path / "nettests" / "none").mkdir()
    (tmp_path / "nettests" / "none" / "__init__.py").write_text("x\n")
    rows = [line.split() for line in script.ratios(tmp_path).splitlines()]
    assert rows[1:] == [
        ["none", "1", "0", "0.00"],
        ["few", "10", "5", "0.50"],
        ["many", "10", "20", "2.00"],
    ]
