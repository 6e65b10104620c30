"""Runs nettests beside the lab's Windows programs: ``closed_world.py [--as-on-windows] [--broken=FAULT] LOCALE WORDS…``.

A program of its own, in a namespace that has nothing but a loopback device: it serves names there. With ``--as-on-windows``
nothing that Windows' Python lacks can be imported or called.
"""

import importlib.abc
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

MODULES = {
    *("fcntl", "resource", "grp", "termios", "pty", "tty", "syslog", "readline", "curses"),
    *("crypt", "nis", "spwd"),
}
"""Unix alone has them, by the documentation of Python; ``pwd`` and ``posix`` are in use before anything can take them away."""
OF_OS = {
    *("O_CLOEXEC", "O_NONBLOCK", "O_DIRECTORY", "O_NOFOLLOW", "O_NOCTTY", "fchmod", "chown"),
    *("geteuid", "getuid", "getgid", "fork", "setsid", "killpg", "mkfifo", "statvfs", "uname"),
}
OF_SIGNAL = {"SIGHUP", "SIGKILL", "SIGALRM", "SIGUSR1", "SIGQUIT", "SIGCHLD", "pthread_sigmask"}
ADDRESS = "192.0.2.80"


class Windows(importlib.abc.MetaPathFinder):
    """Finds no module that Unix alone has."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> None:
        if fullname in MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def as_on_windows() -> None:
    """Take away what Windows' Python does not have."""
    for name in MODULES & sys.modules.keys():
        del sys.modules[name]
    sys.meta_path.insert(0, Windows())
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL)):
        for name in names:
            delattr(module, name)


def serve_names() -> None:
    """Answer A queries for example.com at 127.0.0.1, and NXDOMAIN to all else."""
    import dns.message
    import dns.rcode
    import dns.rrset

    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def serve() -> None:
        while True:
            data, client = server.recvfrom(4096)
            response = dns.message.make_response(dns.message.from_wire(data))
            name = response.question[0].name
            if str(name) == "example.com.":
                response.answer = [dns.rrset.from_text(name, 60, "IN", "A", ADDRESS)]
            else:
                response.set_rcode(dns.rcode.NXDOMAIN)
            server.sendto(response.to_wire(), client)

    threading.Thread(target=serve, daemon=True).start()


if __name__ == "__main__":
    options = [word for word in sys.argv[1:3] if word.startswith("--")]
    locale, *words = sys.argv[1 + len(options) :]
    serve_names()
    if "--as-on-windows" in options:
        as_on_windows()
    from nettests.cli import main

    tool = [
        sys.executable,
        str(Path(__file__).parents[2] / "scripts" / "windows_host.py"),
        "windows-tool",
    ]
    tool += [f"--set=windows.locale={locale}", *(set(options) - {"--as-on-windows"}), "--"]
    os.environ["NETTESTS_VIA"] = " ".join(tool)
    main(words)
