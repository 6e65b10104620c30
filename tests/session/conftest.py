"""The lab of a module's tests."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.session.labs import Lab, lab_command


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of Linux nodes, shared by the module."""
    name = f"session-{os.getpid()}"
    started = lab_command(
        "up", "--profile", "linux", "--name", name, "--json", "--while", str(os.getpid())
    )
    if started.returncode != 0:
        pytest.skip(f"no lab here: {started.stderr.strip() or started.stdout.strip()}")
    told = json.loads(started.stdout.splitlines()[-1])
    try:
        yield Lab(
            Path(told["kubeconfig"]),
            Path(told["cluster_profile"]),
            tmp_path_factory.mktemp("reports"),
        )
    finally:
        lab_command("down", "--name", name)
