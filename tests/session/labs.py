"""A lab for tests of the session, and what they require of it."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nettests.cluster import Connection, connect
from nettests.model.labels import RUN_LABEL
from nettests.plan import load
from nettests.resources import suites_path
from nettests.session.prepare import Prepared, prepare
from nettests.session.run_options import RunOptions

FLOWS = load([suites_path()]).flows


@dataclass(frozen=True, slots=True)
class Lab:
    """A running lab."""

    kubeconfig: Path
    cluster_profile: Path
    directory: Path

    def prepare(self) -> Prepared:
        """Prepare a run on it."""
        options = RunOptions(
            kubeconfig=self.kubeconfig,
            cluster_profile=self.cluster_profile,
            report_dir=self.directory,
        )
        return prepare(options, FLOWS)

    def connect(self) -> Connection:
        """Connect to it."""
        return connect(self.kubeconfig, None)


def lab_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the lab."""
    return subprocess.run(
        [sys.executable, "-m", "nettests.lab", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def namespaces(connection: Connection, run_id: str | None = None) -> list[dict[str, Any]]:
    """Return the namespaces that runs have made."""
    selector = RUN_LABEL if run_id is None else f"{RUN_LABEL}={run_id}"
    return connection.items("/api/v1/namespaces", labelSelector=selector)


def eventually(condition: Callable[[], bool]) -> None:
    """Wait on a condition, for a while."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.05)
