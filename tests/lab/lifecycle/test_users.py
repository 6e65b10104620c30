"""Whose a lab is: an ordinary user's, or root's, who gives it no rights over the machine."""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from tests.lab.running import assert_nothing_left, lab_command, running

NOBODY = 65534


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A state folder of the test's own."""
    return tmp_path


def status_of(pid: int) -> dict[str, str]:
    """Return what the kernel says of a process (proc(5), ``status``)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
def test_a_lab_of_root_has_no_rights_over_the_machine(runtime: Path) -> None:
    """Its process is of a user without account and can gain nothing; its files and its end stay root's."""
    with running(runtime) as lab:
        told = status_of(lab.pid)
        user = int(told["Uid"].split()[0])
        assert set(told["Uid"].split()) == set(told["Gid"].split()) == {str(user)}
        assert user not in {0, NOBODY}
        with pytest.raises(KeyError):
            pwd.getpwuid(user)
        assert (told["Groups"], told["NoNewPrivs"]) == ("", "1")
        over_files_ids_and_processes = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 19))
        assert int(told["CapBnd"], 16) & over_files_ids_and_processes == 0
        assert {path.stat().st_uid for path in lab.kubeconfig.parent.iterdir()} == {0}
        assert lab.command("down").returncode == 0
        assert_nothing_left(lab)


def test_a_lab_that_keeps_its_rights_says_why(runtime: Path) -> None:
    """Root of few ids, as in some containers, cannot become anybody else: the lab runs, and tells."""
    own = ("unshare", "--user", "--map-root-user")
    options = ("--profile", "linux", "--name", "few", "--while", str(os.getpid()))
    done = subprocess.run(
        [*own, sys.executable, "-m", "nettests.lab", "up", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )
    assert done.returncode == 0, done.stderr
    assert "the lab keeps the rights of who started it: this process cannot become" in done.stderr
    assert lab_command("down", "--name", "few", runtime=runtime).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_can_run_a_lab() -> None:
    """``lab up`` needs no root: it works as uid 65534, and leaves nothing."""
    python, environment = _interpreter_for_nobody()
    runtime = Path(tempfile.gettempdir()) / f"nettests-nobody-{os.getpid()}"
    runtime.mkdir(mode=0o700)
    os.chown(runtime, NOBODY, NOBODY)
    environment["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        options = ("--name", "own", "--json", "--while", str(os.getpid()))
        done = _as_nobody(python, environment, "up", *options)
        assert done.returncode == 0, done.stderr
        assert psutil.Process(json.loads(done.stdout)["pid"]).uids().real == NOBODY
        assert _as_nobody(python, environment, "down", "--name", "own").returncode == 0
        assert list(runtime.iterdir()) == []
    finally:
        shutil.rmtree(runtime)


def _as_nobody(
    python: str, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "nettests.lab", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
    )


def _interpreter_for_nobody() -> tuple[str, dict[str, str]]:
    """Return a Python of this version that uid 65534 can read, and how it finds our packages."""
    paths = os.pathsep.join(path for path in sys.path if path and "lib-dynload" not in path)
    packages = os.pathsep.join(
        [str(Path.cwd()), *(path for path in sys.path if path.endswith("site-packages"))]
    )
    system = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    for python, more in ((sys.executable, paths), (system, packages)):
        if python is None:
            continue
        environment = {**os.environ, "PYTHONPATH": more, "HOME": "/nonexistent"}
        with contextlib.suppress(PermissionError):
            if _as_nobody(python, environment, "--help").returncode == 0:
                return python, environment
    pytest.skip("uid 65534 can read neither this Python nor a system one of its version")
