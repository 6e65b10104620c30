"""Enter the lab's own user, network and mount namespaces, drop privileges, and explain why that fails.

Called once, before the event loop starts, while the process still has one thread. Everything the lab
creates afterwards lives in these namespaces and vanishes with the process.

A user namespace limits capabilities, but root in it still owns root's files and processes. So a lab that
root starts switches to a user id without an account and keeps only the capabilities that it needs for the
networks of its own namespaces (capabilities(7), credentials(7)). Other users have nothing to drop.
"""

import errno
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nettests.lab.data_files import read_yaml
from nettests.lab.errors import StartError
from nettests.lab.network import kernel

_PROBE_SECONDS = 20


class IsolationError(StartError):
    """Namespaces cannot be created here; the text says why and what to do."""


def enter_isolated_namespaces() -> None:
    """Put this process into new user, network and mount namespaces, as root of them.

    Works for root and, where user namespaces are allowed, for any user. Root keeps all user and
    group ids, so files of other users stay readable; other users keep only their own
    (user_namespaces(7), "Defining user and group ID mappings").
    """
    user, group = os.geteuid(), os.getegid()
    flags = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNET | kernel.CLONE_NEWNS
    try:
        if user == 0:
            _unshare_with_all_ids(flags)
        else:
            kernel.unshare(flags)
            _map_single(user, group)
        kernel.make_mounts_private()
    except OSError as failure:
        raise IsolationError(explain(failure)) from failure


def _map_single(user: int, group: int) -> None:
    process = Path("/proc/self")
    (process / "setgroups").write_text("deny")
    (process / "uid_map").write_text(f"0 {user} 1")
    (process / "gid_map").write_text(f"0 {group} 1")


def _unshare_with_all_ids(flags: int) -> None:
    """Unshare while a child stays in the old namespace, which alone may map all ids."""
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        os._exit(_map_all(os.getppid()))
    os.close(ready)
    try:
        kernel.unshare(flags)
    finally:
        os.close(go)
        _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        _map_single(0, 0)


def _map_all(process: int) -> int:
    try:
        for kind in ("uid_map", "gid_map"):
            rows = Path(f"/proc/self/{kind}").read_text(encoding="ascii").split("\n")
            same = [
                f"{first} {first} {count}" for first, _, count in map(str.split, filter(None, rows))
            ]
            Path(f"/proc/{process}/{kind}").write_text("\n".join(same), encoding="ascii")
    except OSError:
        return 1
    return 0


def probe_isolation() -> str | None:
    """Return ``None`` if the lab can run here, otherwise the reason, for a person to read.

    ``unshare`` may succeed without granting any capability (Ubuntu's AppArmor), so a child process
    enters the namespaces and creates a veth, a VXLAN device and rules there.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "nettests.lab.network.isolation_probe"]
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"making a network namespace took longer than {_PROBE_SECONDS} s"
    if done.returncode == 0:
        return None
    return (done.stdout.strip() or done.stderr.strip()) or f"the probe ended with {done.returncode}"


def explain(failure: OSError, settings: Path = Path("/proc/sys")) -> str:
    """Turn the error of a namespace call into a sentence that names the setting that forbids it."""
    what = f"cannot make user and network namespaces: {failure.strerror} (errno {failure.errno})"
    if failure.errno == errno.EINVAL:
        return f"{what}. The process has more than one thread; enter them before starting any."
    blockers = [
        advice
        for name, (blocking, advice) in read_yaml(__package__, "isolation.yaml").items()
        if _read(settings / name) == blocking
    ]
    if blockers:
        return f"{what}. " + " ".join(blockers)
    return (
        f"{what}. No known setting forbids it; a container runtime's seccomp profile may. "
        "Run it outside the container, or as root with CAP_SYS_ADMIN."
    )


def _read(setting: Path) -> str:
    try:
        return setting.read_text(encoding="ascii").strip()
    except OSError:
        return ""


_FIRST, _LAST = 61184, 65519
"""The id range of systemd's ``DynamicUser=``; accounts get ids below or above."""

NET_BIND_SERVICE, NET_ADMIN, NET_RAW, SYS_ADMIN = 10, 12, 13, 21
"""linux/capability.h: for ports below 1024, links and rules, pings, and setns between own namespaces."""
DAC_READ_SEARCH = 2
"""To read files that others may not, such as a Python below /root."""
_OVER_NETWORKS = (NET_BIND_SERVICE, NET_ADMIN, NET_RAW, SYS_ADMIN)


def unprivileged() -> int:
    """Return the user id that a lab of this user runs as: for root one without an account, else their own."""
    if os.geteuid() != 0:
        return os.geteuid()
    count = _LAST - _FIRST + 1
    for step in range(count):
        user = _FIRST + (os.getpid() + step) % count
        try:
            pwd.getpwuid(user)
        except KeyError:
            return user
    return 0


def give_up(user: int) -> str:
    """Become ``user`` permanently; return why that is not possible, or ``""``.

    For a process that root started, has one thread, and has entered its namespaces.
    """
    if user == 0:
        return "there is no id without an account"
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        kernel.bound_capabilities((*_OVER_NETWORKS, DAC_READ_SEARCH))
        os.setresuid(user, user, user)
    except OSError as error:
        # samples: Invalid argument (a container with few mapped ids); Operation not permitted (seccomp)
        return f"this process cannot become user {user}: {error.strerror}"
    readable = all(os.access(path, os.R_OK) for path in _own_files())  # without capabilities
    kernel.set_capabilities(_OVER_NETWORKS if readable else (*_OVER_NETWORKS, DAC_READ_SEARCH))
    return ""


def _own_files() -> Iterator[str]:
    """Yield the files of all loaded modules, and the folders of ``sys.path``."""
    yield from (path for path in sys.path if os.path.exists(path))  # noqa: PTH110 - plain texts
    for module in tuple(sys.modules.values()):
        if path := getattr(module, "__file__", None):
            yield path
