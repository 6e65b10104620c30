"""The lab's own user, network and mount namespaces: entering them, giving up rights, and saying why it cannot be done.

Called once, before the event loop starts, while the process still has one thread. Everything the lab
makes afterwards lives below these namespaces and vanishes with the process. Does not build anything.

A user namespace bounds what capabilities reach, but not whose files and processes an id owns: root's namespace
has root's id. So the lab becomes a user that the machine does not know, with no capabilities but those over its
own namespaces' networks (capabilities(7), credentials(7)). Who is not root has nothing to give up.
"""

import errno
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nettests.lab.errors import StartError
from nettests.lab.network import kernel

_PROBE_SECONDS = 20


class IsolationError(StartError):
    """Namespaces cannot be made here; the text says why and what to do."""


def enter_isolated_namespaces() -> None:
    """Put this process into new user, network and mount namespaces, as root of them.

    Works for root and, where user namespaces are allowed, for anybody. Root keeps every user and
    group id, so files of other users stay readable; anybody else keeps only their own
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
    """Unshare while a child stays behind to map all ids: only the old namespace may grant them."""
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
    """Return ``None`` when the lab can run here, otherwise the reason, for a person to read.

    A bare ``unshare`` can succeed without giving any right (Ubuntu's AppArmor), so a child process
    enters the namespaces and really makes a veth, a VXLAN device and rules there.
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
    """Turn the error of a namespace call into a sentence that names the setting in the way."""
    what = f"cannot make user and network namespaces: {failure.strerror} (errno {failure.errno})"
    if failure.errno == errno.EINVAL:
        return f"{what}. The process has more than one thread; enter them before starting any."
    blockers = [
        advice for name, blocking, advice in _SETTINGS if _read(settings / name) == blocking
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


_APPARMOR, _CLONE = "apparmor_restrict_unprivileged_userns", "unprivileged_userns_clone"
_SETTINGS = (
    (
        f"kernel/{_APPARMOR}",
        "1",
        (
            "Ubuntu's AppArmor takes all rights from unprivileged user namespaces: run as root, or "
            f"`sudo sysctl kernel.{_APPARMOR}=0`."
        ),
    ),
    (
        f"kernel/{_CLONE}",
        "0",
        (
            "The kernel allows user namespaces to root only: run as root, or "
            f"`sudo sysctl kernel.{_CLONE}=1`."
        ),
    ),
    (
        "user/max_user_namespaces",
        "0",
        "User namespaces are switched off: `sudo sysctl user.max_user_namespaces=15000`.",
    ),
)


_FIRST, _LAST = 61184, 65519
"""Ids that systemd leaves to nobody in particular (its DynamicUser=); accounts are made below or above."""

NET_BIND_SERVICE, NET_ADMIN, NET_RAW, SYS_ADMIN = 10, 12, 13, 21
"""linux/capability.h: ports below 1024, links and rules, pings, and going from one own namespace to another."""
DAC_READ_SEARCH = 2
"""To read what lies where only others may read: a Python below /root."""
_OVER_NETWORKS = (NET_BIND_SERVICE, NET_ADMIN, NET_RAW, SYS_ADMIN)


def unprivileged() -> int:
    """Return the id under which a lab of this user runs: for root one that no account has, else their own."""
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
    """Become ``user``, for good; return why that is not possible, nothing where it was done.

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
        # samples: Invalid argument, in a container whose root has few ids; Operation not permitted, by seccomp
        return f"this process cannot become user {user}: {error.strerror}"
    kernel.set_capabilities(_OVER_NETWORKS if _readable() else (*_OVER_NETWORKS, DAC_READ_SEARCH))
    return ""


def _readable() -> bool:
    """Whether this user may read what the lab is made of; access(2) looks without capabilities."""
    return all(os.access(path, os.R_OK) for path in _own_files())


def _own_files() -> Iterator[str]:
    """Yield the files of all modules loaded so far, and the folders in which more are looked for."""
    yield from (path for path in sys.path if os.path.exists(path))  # noqa: PTH110 - plain texts
    for module in tuple(sys.modules.values()):
        if path := getattr(module, "__file__", None):
            yield path
