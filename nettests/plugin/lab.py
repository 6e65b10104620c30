"""Start an emulated cluster for one run, and always stop it.

The lab is a separate product, used only through its command line, which returns a kubeconfig and a
cluster profile, as any user would provide them.
"""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nettests.errors import NettestsError, NotInstalledError

COMMAND = (sys.executable, "-m", "nettests.lab")
_NOT_INSTALLED = 4
"""The lab's exit code if its libraries are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A running lab."""

    name: str
    profile: str
    kubeconfig: Path
    cluster_profile: Path


class LabError(NettestsError):
    """The lab did not start."""


@contextmanager
def lab(profile: str = "") -> Iterator[Lab]:
    """Run a lab of its own, with ``profile`` or the lab's default, for the block.

    The name is chosen here, so that it can be stopped at any stage; it ends by itself if this
    process is killed.
    """
    name = f"run-{os.getpid()}-{secrets.token_hex(2)}"
    try:
        yield _bring_up(name, profile)
    finally:
        subprocess.run([*COMMAND, "down", "--name", name], capture_output=True, check=False)


def _bring_up(name: str, profile: str) -> Lab:
    chosen = ["--profile", profile] if profile else []
    done = subprocess.run(
        [*COMMAND, "up", "--name", name, "--while", str(os.getpid()), "--json", *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
        message, rest = lines[0].removeprefix("Error: "), "\n".join(lines[1:]).strip()
        hint = rest.removeprefix("→ ")
        if done.returncode == _NOT_INSTALLED:
            raise NotInstalledError(message, hint=hint)
        raise LabError(f"the lab did not come up: {message}", hint=hint or _NEXT)
    up = json.loads(done.stdout)
    return Lab(
        name=up["name"],
        profile=up["profile"],
        kubeconfig=Path(up["kubeconfig"]),
        cluster_profile=Path(up["cluster_profile"]),
    )


_NEXT = "run: nettests lab up"
