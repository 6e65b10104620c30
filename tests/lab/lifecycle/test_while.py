"""A lab that runs for the time of another process ends with it, however that ends."""

import subprocess
import sys
from pathlib import Path

from tests.lab.running import lab_command, processes_of, start, until


def test_a_lab_ends_with_the_process_that_it_runs_for(tmp_path: Path) -> None:
    """When the process of ``--while`` is killed, the lab goes by itself, with all that is its own."""
    owner = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    lab = start("linux", "short", tmp_path, "--while", str(owner.pid))
    try:
        assert processes_of(lab)
        owner.kill()
        owner.communicate()
        assert until(lambda: not processes_of(lab))
        assert list(tmp_path.iterdir()) == []
    finally:
        lab_command("down", "--name", "short", runtime=tmp_path)


def test_a_lab_is_not_started_for_a_process_that_has_ended(tmp_path: Path) -> None:
    """It would never be told to end."""
    owner = subprocess.Popen([sys.executable, "-c", ""])
    owner.wait()
    done = lab_command("up", "--name", "late", "--while", str(owner.pid), runtime=tmp_path)
    assert done.returncode == 1
    assert f"There is no process {owner.pid}" in done.stderr
