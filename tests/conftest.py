"""Guard for every test: no packet leaves the machine.

Tests talk to servers of their own on loopback, or inside network namespaces that they made; a
connection, datagram or name query from the machine's own namespace to anywhere else fails the test
that tried it. Labs are noted in a folder of the tests' own, never among the user's, and none is left at the end.
"""

import ipaddress
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from nettests.redaction.redactor import forget
from tests.needs_lab import NEEDS_LAB

if TYPE_CHECKING:
    from tests.report.browser import Page

# No test measures time: a busy machine is not a failure.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and children inherit it: no test could interrupt a command.
    signal.signal(signal.SIGINT, signal.default_int_handler)

SO_NETNS_COOKIE = 71
"""Linux 5.14: names the network namespace that a socket lives in, wherever it is used from."""

_violations: list[str] = []
_LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


def _namespace(made: socket.socket) -> int | None:
    try:
        return int(struct.unpack("Q", made.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8))[0])
    except OSError:
        return None


with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as _first:
    _MACHINE = _namespace(_first)


def _leaves(host: object) -> bool:
    """Whether a host lies outside the loopback; a name does, because a resolver would be queried."""
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text not in {"", "localhost"}
    return not any(found in network for network in _LOOPBACK) and not found.is_unspecified


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.getaddrinfo":
        if arguments[0] is not None and _leaves(arguments[0]) and _is_name(arguments[0]):
            _refuse(f"name query for {arguments[0]!r}")
        return
    if event not in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        return
    made, address = arguments[0], arguments[1]
    if not isinstance(made, socket.socket) or not isinstance(address, tuple):
        return
    if made.family not in {socket.AF_INET, socket.AF_INET6} or not _leaves(address[0]):
        return
    if _namespace(made) == _MACHINE:
        _refuse(f"{event} to {address}")


def _is_name(host: object) -> bool:
    try:
        ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host))
    except ValueError:
        return True
    return False


def _refuse(what: str) -> None:
    _violations.append(what)
    raise PermissionError(f"a test must not leave the loopback: {what}")


sys.addaudithook(_audit)


@pytest.fixture(autouse=True)
def stays_on_loopback() -> Iterator[None]:
    """Fail a test that tried to reach anything outside 127.0.0.0/8."""
    _violations.clear()
    yield
    assert not _violations, f"left the loopback: {_violations}"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Page]":
    """One browser for the tests of a module."""
    from tests.report.browser import PROGRAM, browsing

    if PROGRAM is None:
        pytest.skip("there is no Chromium here")
    with browsing(tmp_path_factory.mktemp("browser")) as page:
        yield page


LAB_ENDS_SECONDS = 20
"""A lab whose run was killed ends by itself within this time."""


@pytest.fixture(scope="session", autouse=True)
def noted_labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Have every lab that these tests start noted in one folder; fail if one is left there."""
    runtime = tmp_path_factory.mktemp("runtime")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        # A developer's own channel is no place for what tests come upon.
        patch.delenv("NETTESTS_WEBHOOK", raising=False)
        yield runtime
    deadline = time.monotonic() + LAB_ENDS_SECONDS
    while (left := sorted(runtime.glob("nettests-lab/*"))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, f"labs were left running or not cleaned away: {left}"


TESTS = Path(__file__).parent

LONGEST = "whole-runs"
LONG = frozenset({"acceptance", "docs"})
"""Folders of tests that take minutes a file."""
STUCK_SECONDS = 900
"""No option of pyproject.toml: users who run ``pytest suites`` there have no pytest-timeout."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep the tests of a file on one worker, so that they share its lab; whole runs share theirs.

    Nothing but time depends on it. Whatever order the rest is shuffled into, what takes longest begins
    first, so that the workers end together.
    """
    for item in items:
        if _folder(item) in NEEDS_LAB:
            item.add_marker(pytest.mark.lab)
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(STUCK_SECONDS))
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
    yield
    items.sort(key=lambda item: (_group(item) != LONGEST, _folder(item) not in LONG))


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).parts[0]


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else ""


@pytest.fixture(autouse=True)
def no_secrets_held() -> Iterator[None]:
    """Secrets that a test's code registered are words of no other test."""
    yield
    forget()
