"""How long people wait before anything happens: help, version, completion, and pytest runs of others.

    python bench/start.py [--times N]

Printed are the least and the median wall time, and the least processor time, of each start; of pytest also what our
plugin, installed and unused, adds to an empty run. Budgets on two idle cores: help 0.3 s, version 0.1 s, completion
0.15 s, plugin 50 ms. Wall times on a busy machine say little; processor time does.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = [str(Path(sys.executable).with_name("nettests"))]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider"]
COMPLETING = {"_NETTESTS_COMPLETE": "bash_complete", "COMP_CWORD": "2"}


def main() -> None:
    """Print a row for each start."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=9, help="starts of each")
    times = parser.parse_args().times
    row("nettests --version", times, [*PROGRAM, "--version"])
    row("nettests --help", times, [*PROGRAM, "--help"])
    row("nettests rnu", times, [*PROGRAM, "rnu"])
    row("completion of a command", times, PROGRAM, COMP_WORDS="nettests ru", **{**COMPLETING, "COMP_CWORD": "1"})  # fmt: skip
    row("completion of a flow", times, PROGRAM, COMP_WORDS="nettests run --flow pod-", **{**COMPLETING, "COMP_CWORD": "3"})  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_a.py").write_text("def test_a(): pass\n")
        without = row("pytest without the plugin", times, [*PYTEST, "-pno:nettests", folder])
        with_it = row("pytest with the plugin", times, [*PYTEST, folder])
    print(f"{'the plugin adds':28} {1000 * (with_it - without):6.0f} ms of processor time")


def row(name: str, times: int, words: list[str], **environment: str) -> float:
    """Print one row, and return the least processor time."""
    walls, processor = [], []
    for _ in range(times):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(words, env={**os.environ, **environment}, capture_output=True, check=False)
        walls.append(time.monotonic() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(
        f"{name:28} {min(walls):6.3f} s, median {statistics.median(walls):.3f} s, processor {min(processor):.3f} s"
    )
    return min(processor)


if __name__ == "__main__":
    main()
