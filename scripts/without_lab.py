"""Prove that the harness does not lean on the lab: its unit tests pass with ``nettests/lab`` deleted.

Copies the checkout's tracked and new files to a temporary folder, deletes the lab and what tests it, and
runs what remains there. Imports by name that import-linter cannot see would show here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.needs_lab import NEEDS_LAB

ROOT = Path(__file__).resolve().parent.parent
FETCHED = ROOT / ".cache"
"""What tests need and the repository does not hold; git ignores it."""


def main() -> int:
    """Return pytest's exit code in the copy."""
    with tempfile.TemporaryDirectory(prefix="nettests-without-lab-") as folder:
        copy = Path(folder)
        copy_into(copy)
        for name in ("nettests/lab", *(f"tests/{folder}" for folder in NEEDS_LAB)):
            shutil.rmtree(copy / name, ignore_errors=True)
        arguments = ["-m", "pytest", "-q", "-m", "not lab", *sys.argv[1:]]
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        return subprocess.run(
            [sys.executable, *arguments], cwd=copy, env=environment, check=False
        ).returncode


def copy_into(copy: Path) -> None:
    """Copy the checkout's tracked and new files, and what was fetched for tests, which git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    fetched = (str(path.relative_to(ROOT)) for path in FETCHED.rglob("*"))
    for name in (*filter(None, listed.stdout.split("\0")), *fetched):
        source = ROOT / name
        if source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)


if __name__ == "__main__":
    sys.exit(main())
