"""A lab that stands for several runs, driven by the command line alone, as people drive one. For the scripts beside it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nettests.model.run_folder import LATEST, RESULTS

NETTESTS = (sys.executable, "-m", "nettests")
RUN_SECONDS = 900
"""After this a run is ended, and the script with it."""
JUDGED = (0, 1, 8)
"""Exit codes of runs that judged what they were to judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingLab:
    """A lab that is up: what a run needs of it."""

    name: str
    kubeconfig: str
    cluster_profile: str

    def fault(self, *words: str) -> None:
        """Inject or clear faults: ``inject packet-loss --node win-1``, ``clear``."""
        spoken("lab", "fault", *words, "--name", self.name)

    def run(self, reports: Path, *options: str) -> Path:
        """Make a run and return its folder; ends the script where the run judged nothing."""
        cluster = (f"--kubeconfig={self.kubeconfig}", f"--cluster-profile={self.cluster_profile}")
        spoken("run", "--quiet", f"--report-dir={reports}", *cluster, *options, fine=JUDGED)
        folder = (reports / LATEST).resolve()
        if not (folder / RESULTS).is_file():
            raise SystemExit(f"the run in {folder} has no {RESULTS}")
        return folder


@contextmanager
def standing_lab(name: str, profile: str, settings: Sequence[str] = ()) -> Iterator[StandingLab]:
    """Bring a lab up for the time of the block; it ends with this process, too, however that ends."""
    changed = [f"--set={setting}" for setting in settings]
    up = spoken(
        *("lab", "up", "--json", "--name", name, "--profile", profile),
        *("--while", str(os.getpid()), *changed),
    )
    lab = json.loads(up)
    try:
        yield StandingLab(
            name=name, kubeconfig=lab["kubeconfig"], cluster_profile=lab["cluster_profile"]
        )
    finally:
        spoken("lab", "down", "--name", name)


def spoken(*words: str, fine: Sequence[int] = (0,)) -> str:
    """Run one command of nettests and return what it printed; ends the script with its words where it failed."""
    done = subprocess.run(
        [*NETTESTS, *words], capture_output=True, text=True, check=False, timeout=RUN_SECONDS
    )
    if done.returncode not in fine:
        output = done.stderr.strip() or done.stdout.strip()
        raise SystemExit(f"nettests {' '.join(words)} ended with {done.returncode}:\n{output}")
    return done.stdout


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)  # noqa: T201 - a script for people
