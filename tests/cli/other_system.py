"""Runs commands of nettests as if on another system: what that system lacks is absent from this process.

``python other_system.py SYSTEM`` reads a list of command lines from standard input and prints, for each, its exit
code and output; ``python other_system.py SYSTEM -m MODULE WORD…`` is what a command starts there as ``sys.executable``.
Libraries and Python itself are loaded before, as they are for this system: only the harness meets the other one.
"""

import builtins
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

WINDOWS, MACOS = SYSTEMS = ("win32", "darwin")
OF_LINUX = "pipe2 sched_getaffinity setns unshare memfd_create eventfd"
LACKING: Mapping[str, Mapping[ModuleType, str]] = {
    WINDOWS: {
        os: f"{OF_LINUX} geteuid getuid getegid getgid fork setsid killpg getpgid fchmod chown mkfifo statvfs uname "
        "O_NONBLOCK O_NOFOLLOW O_DIRECTORY O_CLOEXEC",
        signal: "SIGKILL SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGCHLD SIGALRM pthread_sigmask sigwait setitimer",
        select: "poll epoll",
        socket: "AF_UNIX AF_NETLINK AF_PACKET",
    },
    MACOS: {
        os: OF_LINUX,
        signal: "SIGRTMIN SIGRTMAX",
        select: "epoll",
        socket: "AF_NETLINK AF_PACKET SO_BINDTODEVICE",
    },
}
"""What the documents of Python's modules say is not available there."""
MODULES = {
    WINDOWS: {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "posix", "readline"},
    MACOS: {"spwd"},
}


def become(system: str) -> None:
    """Load the harness for its libraries, forget it, and take away what the other system lacks."""
    package = importlib.import_module("nettests")
    for module in pkgutil.walk_packages(package.__path__, "nettests."):
        if not module.name.startswith("nettests.lab.") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "nettests"]:
        del sys.modules[name]
    real = builtins.__import__

    def importing(name: str, caller: Any = None, *more: Any, **others: Any) -> Any:
        by_harness = str((caller or {}).get("__name__")).startswith("nettests")
        if by_harness and name.partition(".")[0] in MODULES[system]:
            raise ModuleNotFoundError(f"No module named {name!r} on {system}", name=name)
        return real(name, caller, *more, **others)

    builtins.__import__ = importing  # type: ignore[assignment]  # the same parameters, but for their names
    sys.platform = system
    sys.executable = os.environ["OTHER_PYTHON"]
    for place, names in LACKING[system].items():
        for name in names.split():
            if hasattr(place, name):
                delattr(place, name)


def outcomes(command_lines: list[list[str]]) -> list[tuple[int, str]]:
    """Return the exit code and the output of each command, run in this process."""
    testing = importlib.import_module("click.testing")
    main = importlib.import_module("nettests.cli").main
    results = [testing.CliRunner().invoke(main, words) for words in command_lines]
    return [(result.exit_code, result.output) for result in results]


if __name__ == "__main__":
    become(sys.argv[1])
    if sys.argv[2:]:
        _, _, _, module_name, *arguments = sys.argv
        sys.argv = [module_name, *arguments]
        runpy.run_module(module_name, run_name="__main__", alter_sys=True)
    else:
        sys.stdout.write(json.dumps(outcomes(json.load(sys.stdin))))
