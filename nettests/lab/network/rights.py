"""Give up root's rights over the machine, once the lab's namespaces are entered.

A user namespace bounds what capabilities reach, but not whose files and processes an id owns: root's namespace
has root's id. So the lab becomes a user that the machine does not know, with no capabilities but those over its
own namespaces' networks (capabilities(7), credentials(7)). Who is not root has nothing to give up.
"""

import os
import pwd
import sys
from collections.abc import Iterator

from nettests.lab.network import kernel

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
