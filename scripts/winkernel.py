"""Play recordings of kube-proxy's winkernel proxier against the lab's planner and the harness' rules on HNS.

    python scripts/winkernel.py FILE.jsonl

Names the first differences and ends with ``N states, M differ``; exits 1 if any does, and 2 with the line where
one cannot be read. ``tests/winkernel`` plays the recording that is part of the repository, and says what its lines hold.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.winkernel.playing import differences  # noqa: E402
from tests.winkernel.recording import NoRecordingError, read  # noqa: E402

SHOWN = 10


def main() -> int:
    """Play every case of the file."""
    parser = argparse.ArgumentParser(description="Play recordings of the winkernel proxier.")
    parser.add_argument("file", type=Path, help="one case a line; may end in .gz")
    file = parser.parse_args().file
    if not file.is_file():
        parser.error(f"There is no file {file}.")
    try:
        return play(file)
    except NoRecordingError as error:
        parser.error(str(error))


def play(file: Path) -> int:
    """Print the first differences and the count; return the exit code."""
    cases = differing = 0
    for case in read(file):
        cases += 1
        lines = list(differences(case))
        differing += bool(lines)
        if lines and differing <= SHOWN:
            print("\n  ".join([str(case), *lines]))  # noqa: T201 - a script for people
    print(f"{cases} states, {differing} differ")  # noqa: T201
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
