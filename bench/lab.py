"""How long a lab takes from ``up`` to every node Ready, and in which phases.

    python bench/lab.py [PROFILE …]

Brings each profile up and down several times and prints, in seconds, the median time of each phase since
the command was started, and of ``down``. The budget for four nodes on two cores is 5 s.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from nettests.lab.topology import profiles

ROUNDS = 3


def main() -> None:
    """Measure the named profiles, all by default."""
    names = sys.argv[1:] or [profile.name for profile in profiles.available()]
    with TemporaryDirectory() as runtime:
        for name in names:
            measure(name, Path(runtime))


def measure(profile: str, runtime: Path) -> None:
    """Start and stop ``profile`` some times; print the medians."""
    phases: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        began = time.monotonic()
        shown = lab("up", "--profile", profile, "--while", str(os.getpid()), runtime=runtime)
        phases.setdefault("up returned", []).append(time.monotonic() - began)
        for line in shown.splitlines():
            # "  2.51 s  system pods"
            seconds, _, phase = line.partition(" s  ")
            phases.setdefault(phase, []).append(float(seconds))
        began = time.monotonic()
        lab("down", runtime=runtime)
        phases.setdefault("down returned", []).append(time.monotonic() - began)
    print(f"{profile} (median of {ROUNDS})")
    last = ("up returned", "down returned")
    for phase in (*(name for name in phases if name not in last), *last):
        print(f"  {statistics.median(phases[phase]):6.2f} s  {phase}")


def lab(*arguments: str, runtime: Path) -> str:
    """Run ``nettests lab`` and return what it showed of its progress."""
    done = subprocess.run(
        [sys.executable, "-m", "nettests.lab", *arguments, "--name", "bench"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "XDG_RUNTIME_DIR": str(runtime)},
    )
    return done.stderr


if __name__ == "__main__":
    main()
