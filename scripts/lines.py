"""How many lines of Python each package has, and its tests, at several commits beside each other.

``python -m scripts.lines 3e7bb5d HEAD`` reads them out of git, so that nothing is checked out. What is not Python
does not count; a line is a line, empty or not. ``make coverage`` prints the same figures of the files as they are, with
their ratio.
"""

import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
WHOLE = ("nettests", "suites", "scripts", "bench", "tests")
"""Counted as they are, below the packages of ``nettests``."""
OWN = "(modules of no package)"


def counted(repository: Path, commit: str) -> Counter[str]:
    """Return the lines of each package ``p`` (as ``nettests/p``, ``tests/p``) and each folder at a commit."""
    argv = ["git", "-C", str(repository), "archive", "--format=tar", commit]
    packed = subprocess.run(argv, check=True, capture_output=True).stdout
    lines: Counter[str] = Counter()
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            file = archive.extractfile(member)
            if path.suffix == ".py" and path.parts[0] in WHOLE and file is not None:
                number = len(file.read().splitlines())
                folder = path.parts[1] if len(path.parts) > 2 else OWN
                lines[path.parts[0]] += number
                lines[f"{path.parts[0]}/{folder}"] += number
    return lines


def table(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return a Markdown table: a row for each package of ``nettests`` and each folder, lines and those of tests."""
    commits = list(counts)
    packages = sorted(
        {name.partition("/")[2] for each in counts.values() for name in each if "nettests/" in name}
    )
    rows: list[Sequence[str]] = [
        ["package", *(f"{commit}, its tests" for commit in commits)],
        ["---", *("---" for _ in commits)],
    ]
    for package in packages:
        cells = [
            f"{counts[commit].get(f'nettests/{package}', 0):,}, {counts[commit].get(f'tests/{package}', 0):,}"
            for commit in commits
        ]
        rows.append([package if package == OWN else f"`{package}`", *cells])
    rows += [
        [f"all of `{folder}`", *(f"{counts[commit].get(folder, 0):,}" for commit in commits)]
        for folder in WHOLE
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(commits: Iterable[str]) -> int:
    """Print the table of the commits that are named, of ``HEAD`` where none is."""
    named = list(commits) or ["HEAD"]
    print(table({commit: counted(ROOT, commit) for commit in named}))  # noqa: T201 - a script for people
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
