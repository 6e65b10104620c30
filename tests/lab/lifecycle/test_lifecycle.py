"""Starting and stopping labs, and that nothing of them is left: process, namespace, socket, file."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException, CoreV1Api
from kubernetes.config import new_client_from_config

from tests.lab.conftest import Labs
from tests.lab.running import (
    Lab,
    alive,
    assert_nothing_left,
    lab_command,
    pod,
    running,
    start,
    until,
)

MACHINE = str(Path("/proc/self/ns/net").readlink())
NOBODY = 65534


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A state folder of the test's own."""
    return tmp_path


@pytest.fixture
def linux(labs: Labs) -> Lab:
    """The session's lab of two Linux nodes, for tests that change nothing."""
    return labs["linux"]


def _api_port(lab: Lab) -> int:
    line = next(x for x in lab.kubeconfig.read_text().splitlines() if "server:" in x)
    return int(line.rsplit(":", 1)[1])


def _namespaces_of(pid: int) -> set[str]:
    """The network namespaces that a process lives in or holds open."""
    found = {str(Path(f"/proc/{pid}/ns/net").readlink())}
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("net:"):
            found.add(target)
    return found


def test_down_leaves_nothing(runtime: Path) -> None:
    """After ``down`` there is no process, no file, and the API's port is closed."""
    with running(runtime) as lab:
        port = _api_port(lab)
        done = lab.command("down")
        assert done.returncode == 0, done.stderr
        assert_nothing_left(lab)
        with socket.socket() as sock:
            assert sock.connect_ex(("127.0.0.1", port)) != 0


def test_a_killed_lab_is_cleaned_away(runtime: Path) -> None:
    """After ``kill -9`` the lab counts as dead; ``down`` removes what it left, ``up`` works again."""
    with running(runtime) as lab:
        os.kill(lab.pid, signal.SIGKILL)
        until(lambda: not alive(lab.pid))
        assert "dead" in lab_command("status", runtime=runtime).stdout
        done = lab.command("down")
        assert "was not running; what it left is removed" in done.stdout
        assert_nothing_left(lab)


def test_up_replaces_the_remains_of_a_killed_lab(runtime: Path) -> None:
    """The name of a killed lab can be used again at once."""
    with running(runtime) as first:
        os.kill(first.pid, signal.SIGKILL)
        until(lambda: not alive(first.pid))
        second = start("linux", first.name, runtime)
        assert second.pid != first.pid


def test_a_name_that_runs_already_is_refused(runtime: Path) -> None:
    """``up`` on a running lab's name changes nothing and says what to do."""
    with running(runtime) as lab:
        done = lab_command("up", "--name", lab.name, "--profile", "linux", runtime=runtime)
        assert done.returncode == 1
        assert 'A lab called "short" runs already (profile linux' in done.stderr
        assert "nettests lab down --name short" in done.stderr
        assert lab.core.list_node().items


def test_labs_run_side_by_side(runtime: Path) -> None:
    """Two labs have the same addresses and do not meet; stopping one leaves the other."""
    with running(runtime, "one") as one, running(runtime, "two") as two:
        one.run("only-here", "linux-1")
        assert two.is_gone("only-here")
        assert not _namespaces_of(one.pid) & _namespaces_of(two.pid)
        one.command("down")
        assert len(two.core.list_node().items) == 2


def test_a_lab_has_no_link_to_the_machines_network(runtime: Path) -> None:
    """No network namespace of the lab is the machine's, and no interface has its end there."""
    before = set(socket.if_nameindex())
    with running(runtime) as lab:
        assert MACHINE not in _namespaces_of(lab.pid)
        assert set(socket.if_nameindex()) == before


def test_the_machine_can_reach_a_lab_on_loopback_only(linux: Lab) -> None:
    """The lab's process listens on 127.0.0.1 of the machine alone: API server, HTTP proxy, and SOCKS5 proxy for UDP."""
    inodes = _socket_inodes(linux.pid)
    listening = [
        fields[1].split(":")[0]
        for fields in map(str.split, Path("/proc/self/net/tcp").read_text().splitlines()[1:])
        if fields[3] == "0A" and fields[9] in inodes
    ]
    assert listening == ["0100007F"] * 3


def _socket_inodes(pid: int) -> set[str]:
    links = (str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir())
    return {link[8:-1] for link in links if link.startswith("socket:[")}


def test_files_are_private(linux: Lab) -> None:
    """The folder is 0700, every file and the control socket 0600."""
    folder = linux.kubeconfig.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_the_api_wants_the_token(linux: Lab, tmp_path: Path) -> None:
    """Another token is refused, so that other users of the machine have no way in."""
    config = linux.kubeconfig.read_text()
    token = next(line.split()[1] for line in config.splitlines() if "token:" in line)
    copy = tmp_path / "guess"
    copy.write_text(config.replace(token, "guess"))
    with new_client_from_config(str(copy)) as api, pytest.raises(ApiException) as refused:
        CoreV1Api(api).list_node()
    assert refused.value.status == 401


def test_kubeconfig_prints_nothing_but_the_path(linux: Lab) -> None:
    """``export KUBECONFIG=$(nettests lab kubeconfig)`` works."""
    assert linux.command("kubeconfig").stdout == f"{linux.kubeconfig}\n"


def test_kubeconfig_of_a_lab_that_does_not_run(runtime: Path) -> None:
    """There is no path to print; the error says how to start one."""
    done = lab_command("kubeconfig", "--name", "none", runtime=runtime)
    assert (done.returncode, done.stdout) == (1, "")
    assert 'No lab called "none" is running.' in done.stderr
    assert "nettests lab up" in done.stderr


def test_status_lists_labs(linux: Lab) -> None:
    """Name, profile and kubeconfig of each lab; phases and namespaces of one."""
    listed = json.loads(lab_command("status", "--json", runtime=linux.runtime).stdout)["labs"]
    assert ("linux", True) in [(row["name"], row["running"]) for row in listed]
    told = linux.describe()
    assert told["pid"] == linux.pid
    assert {"linux-1/host", "outside-server", "gateway"} <= told["namespaces"].keys()
    assert list(told["phases"])[-1] == "ready"


def test_a_profile_that_does_not_exist_starts_nothing(runtime: Path) -> None:
    """The error names the nearest profile; no folder is made."""
    done = lab_command("up", "--profile", "win2019-l2brige", runtime=runtime)
    assert done.returncode == 1
    assert 'Did you mean "win2019-l2bridge"?' in done.stderr
    assert list(runtime.iterdir()) == []


def test_a_missing_nft_is_named(runtime: Path) -> None:
    """Without nft the lab does not start, says what to install, and leaves nothing."""
    done = _without_nft(runtime)
    assert done.returncode == 1
    assert "nft was not found" in done.stderr
    assert list(runtime.iterdir()) == []


def _without_nft(runtime: Path) -> subprocess.CompletedProcess[str]:
    """Run ``up`` where each ``nft``, of the system or of the environment, is hidden behind an empty file."""
    blank = runtime.parent / f"{runtime.name}-blank"
    blank.write_text("")
    folders = [*os.environ["PATH"].split(os.pathsep), "/usr/sbin", "/sbin", f"{sys.prefix}/bin"]
    nfts = {os.path.realpath(path) for folder in folders if (path := Path(folder) / "nft").exists()}
    script = 'for nft in $NFTS; do mount --bind "$BLANK" "$nft" || exit 3; done; exec "$@"'
    try:
        return subprocess.run(
            [
                *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"),
                *(sys.executable, "-m", "nettests.lab", "up", "--profile", "linux"),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={
                **os.environ,
                "XDG_RUNTIME_DIR": str(runtime),
                "BLANK": str(blank),
                "NFTS": " ".join(nfts),
            },
        )
    finally:
        blank.unlink()


def test_no_user_namespaces(runtime: Path) -> None:
    """Where namespaces are forbidden the error says so, and nothing is left."""
    script = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'
    done = subprocess.run(
        [
            *("unshare", "--user", "--map-root-user", "--mount-proc", "--pid", "--fork"),
            *("sh", "-c", script, "sh"),
            *(sys.executable, "-m", "nettests.lab", "up", "--profile", "linux"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )
    assert done.returncode == 1
    assert "namespace" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(runtime.iterdir()) == []


@contextmanager
def starting(runtime: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """An ``up`` that has just made its namespaces, and the process id of its lab."""
    up = subprocess.Popen(
        [
            *(sys.executable, "-m", "nettests.lab", "up", "--name", "cut"),
            *("--while", str(os.getpid())),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )
    with up:
        assert up.stderr is not None
        assert "namespaces" in up.stderr.readline()
        record = json.loads((runtime / "nettests-lab" / "cut" / "lab.json").read_text())
        yield up, record["pid"]


def test_ctrl_c_while_starting_leaves_nothing(runtime: Path) -> None:
    """An interrupt during ``up`` stops the lab's process and removes its folder."""
    with starting(runtime) as (up, pid):
        up.send_signal(signal.SIGINT)
        _, said = up.communicate(timeout=90)
    assert up.returncode == 130
    assert "nothing is left of it" in said
    until(lambda: not alive(pid))
    assert list(runtime.iterdir()) == []


def test_a_lab_that_dies_while_starting_leaves_nothing(runtime: Path) -> None:
    """When the lab's process goes during ``up``, the error says so and its folder is removed."""
    with starting(runtime) as (up, pid):
        os.kill(pid, signal.SIGKILL)
        _, said = up.communicate(timeout=90)
    assert up.returncode == 1
    assert "Error: The lab's process ended without a word." in said
    assert list(runtime.iterdir()) == []


def test_a_lab_whose_starter_is_killed_while_it_starts_ends(runtime: Path) -> None:
    """Nobody is left to write its kubeconfig: its process goes too, and the name can be used at once."""
    with starting(runtime) as (up, pid):
        up.kill()
        up.communicate(timeout=90)
    until(lambda: not alive(pid), seconds=30)
    assert "dead" in lab_command("status", runtime=runtime).stdout
    second = start("linux", "cut", runtime)
    try:
        assert second.core.list_node().items
    finally:
        second.command("down")


def test_windows_images_may_lack_ping(runtime: Path) -> None:
    """With ``--without-windows-ping`` ordinary Windows pods have no ping.exe."""
    lab = start("win2019-l2bridge", "no-ping", runtime, "--without-windows-ping")
    try:
        lab.run("no-ping", "win-1")
        assert lab.exec("no-ping", "where", "ping")[0] != 0
    finally:
        lab.command("down")


def test_up_shows_its_phases_and_what_to_do_next(runtime: Path) -> None:
    """Phases go to standard error as they pass, the next commands to standard output."""
    done = lab_command(
        *("up", "--profile", "linux", "--name", "shown", "--while", str(os.getpid())),
        runtime=runtime,
    )
    lab_command("down", "--name", "shown", runtime=runtime)
    assert done.returncode == 0, done.stderr
    phases = [line.split(" s  ")[1] for line in done.stderr.splitlines()]
    assert (phases[0], phases[-1]) == ("namespaces", "ready")
    assert "export KUBECONFIG=" in done.stdout


@pytest.mark.nightly
def test_a_node_full_of_pods_says_so_and_goes_on(runtime: Path) -> None:
    """254 addresses less the gateway's: the pod after the last waits, and starts when one goes."""
    with running(runtime) as lab:
        for number in range(254):
            lab.create(pod(f"p{number}", "linux-2", args=["pause"]))
        listed = until(lambda: _all_but_one_ready(lab), seconds=600)
        (waits,) = (each for each in listed if not each.status.pod_ip)
        reason = until(lambda: lab.warnings(waits.metadata.name).get("FailedCreatePodSandBox"))
        assert "pod addresses of 10.244.2.0/24 are in use" in reason
        lab.remove(next(each.metadata.name for each in listed if each.status.pod_ip))
        lab.ready(waits.metadata.name)


def _all_but_one_ready(lab: Lab) -> list[Any] | None:
    listed = lab.core.list_namespaced_pod("default").items
    running = sum(1 for each in listed if each.status.phase == "Running")
    return listed if running == len(listed) - 1 else None
