"""Write ``requirements/*.txt``: every library of the project by version and hash, for all its Pythons.

``make lock`` runs it after ``pyproject.toml`` has changed, or with ``--upgrade`` to take newer versions.
The files name no index: whoever installs from them uses their own, and the hashes say that it serves the same.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".venv" / "bin" / "uv"
OLDEST_PYTHON = "3.11"
TESTED = ["--constraint", "requirements/development.txt"]
FILES = {
    "installer": ["--group", "installer"],
    "development": [
        *("pyproject.toml", "--extra", "lab"),
        *("--group", "test", "--group", "lint", "--group", "mutation"),
    ],
    "run": ["pyproject.toml", "--extra", "all", *TESTED],
    "image": ["pyproject.toml", *TESTED],
}
"""What each file holds: dependency groups, and the project's own dependencies, with those of all extras for ``make demo``, of none in the image.

What runs has the versions that tests run with, which are resolved first.
"""
HEADER = "# Made by `make lock` from pyproject.toml; install with --require-hashes.\n"


def main() -> None:
    """Resolve each file anew; versions that stand there already stay, unless ``--upgrade`` is given."""
    for name, words in FILES.items():
        path = ROOT / "requirements" / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        subprocess.run(command(path, words, sys.argv[1:]), cwd=ROOT, check=True)
        path.write_text(HEADER + path.read_text("utf-8"), "utf-8")


def command(path: Path, words: list[str], options: list[str]) -> list[str]:
    """Return the command line by which uv resolves one file."""
    pinning = ["--universal", "--python-version", OLDEST_PYTHON, "--generate-hashes"]
    bare = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    target = ["--quiet", "--output-file", str(path.relative_to(ROOT))]
    return [str(UV), "pip", "compile", *words, *pinning, *bare, *target, *options]


if __name__ == "__main__":
    main()
