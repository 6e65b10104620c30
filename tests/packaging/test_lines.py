"""Lines of packages at several commits: read out of git, counted by package, beside each other."""

import subprocess
from pathlib import Path

import pytest

from scripts.lines import OWN, counted, table


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of two commits: the second one has a new package and a longer old one."""

    def commit(files: dict[str, str], message: str) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for argv in (["add", "-A"], [*who, "commit", "-q", "-m", message, "--no-verify"]):
            subprocess.run(["git", "-C", str(tmp_path), *argv], check=True)

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    commit({"nettests/plan/a.py": "a\n\nb\n", "nettests/errors.py": "a\n", "x.py": "a\n"}, "one")
    commit(
        {
            "nettests/plan/a.py": "a\n" * 5,
            "nettests/plan/deep/b.py": "a\n" * 7,
            "nettests/judge/a.py": "a",
            "nettests/judge/a.txt": "a\n" * 100,
            "tests/judge/test_a.py": "a\n" * 4,
            "tests/conftest.py": "a\n" * 9,
        },
        "two",
    )
    return tmp_path


def test_lines_of_python_are_counted_by_package(repository: Path) -> None:
    """Modules below a package count for it, and what is no Python or stands elsewhere for nobody."""
    assert counted(repository, "HEAD~1") == {
        "nettests": 4,
        "nettests/plan": 3,
        f"nettests/{OWN}": 1,
    }
    assert counted(repository, "HEAD") == {
        "nettests": 14,
        "nettests/plan": 12,
        "nettests/judge": 1,
        f"nettests/{OWN}": 1,
        "tests": 13,
        "tests/judge": 4,
        f"tests/{OWN}": 9,
    }


def test_commits_stand_beside_each_other(repository: Path) -> None:
    """A package that was not there yet has no lines; files that were not committed do not count."""
    (repository / "nettests/plan/a.py").write_text("a\n" * 1000)
    shown = table({one: counted(repository, one) for one in ("HEAD~1", "HEAD")}).splitlines()
    assert shown[0] == "| package | HEAD~1, its tests | HEAD, its tests |"
    assert "| `judge` | 0, 0 | 1, 4 |" in shown
    assert "| `plan` | 3, 0 | 12, 0 |" in shown
    assert shown[-1] == "| all of `tests` | 0 | 13 |"
