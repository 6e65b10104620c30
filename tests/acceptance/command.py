"""The command line, run as a user runs it, with the interpreter of the tests."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

COMMAND = (sys.executable, "-m", "nettests")


def nettests(
    *arguments: str,
    timeout: int = 900,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command line with the interpreter of the tests; output is captured as text.

    ``environment`` is added to the present one; ``folder`` is where it runs.
    """
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **(environment or {})},
        cwd=folder,
    )
