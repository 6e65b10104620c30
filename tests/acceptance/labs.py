"""Labs that outlive one run: brought up and down by the command line, entered with ``nsenter``."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nettests.lab.network import find_nft
from tests.acceptance.command import nettests


@dataclass(frozen=True, slots=True, kw_only=True)
class UpLab:
    """A lab that is up, as ``lab up --json`` told it."""

    name: str
    profile: str
    pid: int
    kubeconfig: str
    cluster_profile: str

    def fault(self, *arguments: str) -> None:
        """Inject or clear a fault; fails the test if the lab refuses."""
        done = nettests("lab", "fault", *arguments, "--name", self.name)
        assert done.returncode == 0, done.stderr

    def namespaces(self) -> dict[str, int]:
        """File descriptors of the lab's namespaces by name (``underlay``, ``win-1/switch``)."""
        done = nettests("lab", "status", "--name", self.name, "--json")
        assert done.returncode == 0, done.stderr
        found: dict[str, int] = json.loads(done.stdout)["namespaces"]
        return found

    def entering(self, namespace: str) -> list[str]:
        """The words that put a command into one of the lab's namespaces."""
        return [
            "nsenter",
            f"--user=/proc/{self.pid}/ns/user",
            f"--net=/proc/{self.pid}/fd/{self.namespaces()[namespace]}",
            "--preserve-credentials",
        ]

    def enter(self, namespace: str, *command: str, stdin: str | None = None) -> str:
        """Run a command inside one of the lab's namespaces, as a person would, and return its output."""
        done = subprocess.run(
            [*self.entering(namespace), *command],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": _path()},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def _path() -> str:
    """``PATH`` with the system directories, which Debian keeps out of an ordinary user's, and ``nft``'s own."""
    nft = str(Path(find_nft()).parent)
    return os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin", nft))


@contextmanager
def lab(profile: str, *options: str) -> Iterator[UpLab]:
    """Bring a lab up under a name of its own; it is down again whatever happens."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    up = subprocess.run(
        [
            *(sys.executable, "-m", "nettests", "lab", "up", "--json", "--while", str(os.getpid())),
            *("--profile", profile, "--name", name, *options),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    try:
        assert up.returncode == 0, up.stderr
        told = json.loads(up.stdout)
        yield UpLab(
            name=told["name"],
            profile=told["profile"],
            pid=told["pid"],
            kubeconfig=told["kubeconfig"],
            cluster_profile=told["cluster_profile"],
        )
    finally:
        nettests("lab", "down", "--name", name)
