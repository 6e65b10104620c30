"""Entering namespaces, and the sentences people get where that is not possible."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nettests.lab.network import NftError, find_nft, probe_isolation
from nettests.lab.network.isolation import explain

REFUSED = OSError(errno.EPERM, "Operation not permitted")


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_probe_finds_this_machine_fit() -> None:
    """Where these tests can run the probe reports nothing."""
    assert probe_isolation() is None


def test_an_nft_that_refuses_the_rules_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The probe loads one of each kind of rule; a refusal comes back with nft's own words."""
    broken = tmp_path / "nft"
    broken.write_text("#!/bin/sh\necho Error: no jhash here >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("NETTESTS_NFT", str(broken))
    reason = probe_isolation()
    assert reason is not None
    assert "lab's rules need" in reason
    assert "no jhash here" in reason


def test_the_probe_leaves_its_caller_alone() -> None:
    """Probing happens in a child: this process stays in its namespaces."""
    before = [Path(f"/proc/self/ns/{kind}").readlink() for kind in ("net", "user", "mnt")]
    probe_isolation()
    assert [Path(f"/proc/self/ns/{kind}").readlink() for kind in ("net", "user", "mnt")] == before


def test_entering_gives_new_namespaces_and_root() -> None:
    """Afterwards user, network and mount namespaces are new, and the process is root of them."""
    code = (
        "import os; from nettests.lab.network import enter_isolated_namespaces as enter\n"
        "kinds = ('net', 'user', 'mnt'); before = [os.readlink(f'/proc/self/ns/{k}') for k in kinds]\n"
        "enter()\n"
        "after = [os.readlink(f'/proc/self/ns/{k}') for k in kinds]\n"
        "print(all(a != b for a, b in zip(before, after)), os.geteuid(), os.getegid())"
    )
    assert _run(code) == "True 0 0"


def test_root_keeps_the_files_of_other_users() -> None:
    """As root every id is mapped, so files of others stay theirs and readable."""
    if os.geteuid() != 0:
        pytest.skip("only root can map the ids of others")
    code = (
        "from pathlib import Path; from nettests.lab.network import enter_isolated_namespaces\n"
        "before = Path('/proc/self/uid_map').read_text().split()\n"
        "enter_isolated_namespaces()\n"
        "first, _, count = Path('/proc/self/uid_map').read_text().split()\n"
        "print([first, count] == [before[0], before[2]])"
    )
    assert _run(code) == "True"


def test_a_second_thread_is_named_as_the_reason() -> None:
    """The kernel's bare EINVAL becomes a sentence about threads."""
    code = (
        "import threading; from nettests.lab.network import *\n"
        "stop = threading.Event(); threading.Thread(target=stop.wait).start()\n"
        "try: enter_isolated_namespaces()\n"
        "except IsolationError as failure: print(failure)\n"
        "stop.set()"
    )
    assert "more than one thread" in _run(code)


@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
    ],
)
def test_the_setting_in_the_way_is_named(
    tmp_path: Path, setting: str, value: str, named: str
) -> None:
    """A refusal names the sysctl that caused it, with the command that changes it."""
    path = tmp_path / setting
    path.parent.mkdir()
    path.write_text(value + "\n")
    assert f"sudo sysctl {named}" in explain(REFUSED, tmp_path)


def test_a_refusal_without_a_known_setting_points_at_the_container(tmp_path: Path) -> None:
    """When no setting explains it, the container runtime is suggested."""
    text = explain(REFUSED, tmp_path)
    assert "seccomp" in text
    assert "Operation not permitted" in text


@pytest.fixture
def fresh_search(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget where nft was found before, and afterwards what the test made of it."""
    monkeypatch.delenv("NETTESTS_NFT", raising=False)
    find_nft.cache_clear()
    yield
    find_nft.cache_clear()


def _program(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_nft_is_found_in_system_directories(
    fresh_search: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An ordinary user's PATH without /usr/sbin is enough."""
    found = _program(tmp_path / "sbin" / "nft")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("nettests.lab.network.nft._SYSTEM_DIRECTORIES", (str(found.parent),))
    assert find_nft() == str(found)


def test_a_stated_nft_is_used(
    fresh_search: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``NETTESTS_NFT`` comes before everything else."""
    stated = _program(tmp_path / "my-nft")
    monkeypatch.setenv("NETTESTS_NFT", str(stated))
    assert find_nft() == str(stated)


def test_a_wrong_stated_nft_is_an_error(
    fresh_search: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stated binary that is not there is not silently replaced by another."""
    monkeypatch.setenv("NETTESTS_NFT", str(tmp_path / "none"))
    with pytest.raises(NftError, match="there is no such program"):
        find_nft()


def test_a_missing_nft_names_the_package(
    fresh_search: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without nft anywhere, not in the environment either, the one command that installs it is printed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("nettests.lab.network.nft._SYSTEM_DIRECTORIES", ())
    with pytest.raises(NftError, match="sudo apt-get install nftables"):
        find_nft()
