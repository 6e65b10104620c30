"""The guard of all tests: what it refuses, and what it leaves alone."""

import socket
from collections.abc import Iterator

import pytest

from tests import conftest


@pytest.fixture
def forgiven() -> Iterator[None]:
    """Forget the violations that a test made on purpose."""
    yield
    conftest._violations.clear()


@pytest.mark.usefixtures("forgiven")
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_connection_outside_the_loopback_is_refused(kind: socket.SocketKind) -> None:
    """A connect to a documentation address raises before any packet is sent."""
    with (
        socket.socket(socket.AF_INET, kind) as made,
        pytest.raises(PermissionError, match="must not leave the loopback"),
    ):
        made.connect(("192.0.2.1", 80))


@pytest.mark.usefixtures("forgiven")
def test_a_name_query_is_refused() -> None:
    """A name is not resolved: the resolver would be reached over the network."""
    with pytest.raises(PermissionError, match="name query"):
        socket.getaddrinfo("example.invalid", 80)


def test_the_loopback_is_left_alone() -> None:
    """A connection to a server of the test's own works."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()
