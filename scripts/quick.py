"""``make quick``: lint, types, import contracts, and the tests of the packages that changed, in about a minute.

A package's tests are the folder of ``tests/`` with its name; what needs a lab or the night is left to ``make test``.
With nothing changed since ``main`` it lints and tests nothing. It installs nothing: ``make dev`` does.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.run_tests import environment
from tests.needs_lab import NEEDS_LAB

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def changed(base: str = "main") -> list[str]:
    """Return the files that differ from where this branch left ``base``, and those that git does not know yet."""
    fork = _git("merge-base", base, "HEAD") or ["HEAD"]
    return [
        *_git("diff", "--name-only", fork[0]),
        *_git("ls-files", "--others", "--exclude-standard"),
    ]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def folders_of_tests(files: Iterable[str]) -> list[str]:
    """Return the folders of tests of the packages and tests that these files belong to, without those of the lab."""
    names = set()
    for file in files:
        top, *below = Path(file).parts
        if top in {"nettests", "tests"} and len(below) > 1:
            names.add(below[0])
        elif top in {"suites", "manifests"}:
            names.add(top)
    return [
        f"tests/{name}" for name in sorted(names - NEEDS_LAB) if (ROOT / "tests" / name).is_dir()
    ]


def main() -> int:
    """Run the checks one after the other, the fastest first; stop at the first that fails."""
    folders = folders_of_tests(changed())
    pytest = ["python", "-m", "pytest", "-q", "-n", "2", "-m", "not lab and not nightly", *folders]
    checks = [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["lint-imports"],
        ["mypy"],
    ]
    for program, *words in [*checks, *([pytest] if folders else [])]:
        done = subprocess.run([BIN / program, *words], cwd=ROOT, env=environment(), check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
