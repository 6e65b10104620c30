"""What a process may still do on the machine after it gave up root's rights."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
GIVEN_UP = """
import os, pathlib, subprocess, sys
from nettests.lab.network import enter_isolated_namespaces, find_nft
from nettests.lab.network.isolation import give_up, unprivileged
nft = find_nft()
enter_isolated_namespaces()
assert give_up(unprivileged()) == "", "it was not given up"
def tried(what, *arguments):
    try:
        what(*arguments)
    except OSError as error:
        return type(error).__name__
    return "done"
mine, victim = pathlib.Path(sys.argv[1]), int(sys.argv[2])
print("write", tried(mine.write_text, "x"))
print("make", tried((mine.parent / "new").write_text, "x"))
print("mode", tried(mine.chmod, 0o777))
print("owner", tried(os.chown, mine, os.getuid(), os.getuid()))
print("kill", tried(os.kill, victim, 0))
print("root", tried(os.setresuid, 0, 0, 0))
print("group", tried(os.setgroups, [0]))
print("device", tried(os.mknod, mine.parent / "disk", 0o60600, os.makedev(8, 0)))
print("setting", tried(pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text, "1"))
print("link", subprocess.run([nft, "add", "table", "ip", "own"]).returncode)
print("machine", tried(pathlib.Path("/proc/sys/kernel/panic").write_text, "0"))
"""


def test_only_rights_over_its_own_networks_are_left(tmp_path: Path) -> None:
    """Root's files, processes, ids and settings are out of reach, also by retrying; own networks are not."""
    mine = tmp_path / "of-root"
    mine.write_text("mine")
    mine.chmod(0o600)
    tmp_path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", GIVEN_UP, str(mine), str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    refused = "PermissionError"
    assert dict(line.split() for line in done.stdout.splitlines()) == {
        **dict.fromkeys(("write", "make", "mode", "owner", "kill"), refused),
        **dict.fromkeys(("root", "group", "device", "machine"), refused),
        "setting": "done",
        "link": "0",
    }
    assert mine.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [mine]


def test_a_program_that_others_may_not_read_is_read_all_the_same(tmp_path: Path) -> None:
    """Root's Python may lie where only root looks: reading alone is kept for it, and nothing else."""
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / "early.py").write_text("")
    (hidden / "late.py").write_text("WORD = 'read'")
    code = (
        "import early\n"
        "from nettests.lab.network import enter_isolated_namespaces\n"
        "from nettests.lab.network.isolation import give_up, unprivileged\n"
        "enter_isolated_namespaces()\n"
        "assert give_up(unprivileged()) == ''\n"
        "import late; print(late.WORD)\n"
        "try: open(early.__file__, 'a')\n"
        "except PermissionError: print('not written')\n"
    )
    path = os.pathsep.join([str(hidden), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.split("\n")[:2] == ["read", "not written"], done.stderr
