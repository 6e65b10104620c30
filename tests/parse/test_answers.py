"""What a reached server says: who it is, or whom it saw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.words import Outcome
from nettests.parse.netexec import HEALTH, Answer, client_address, outcome_of, read_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.244.1.2:56880", ("10.244.1.2", 56880)),
        (" 10.244.1.2:56880\n", ("10.244.1.2", 56880)),
        ("[fd00::A]:58634", ("fd00::a", 58634)),
        ("[::ffff:10.244.1.2]:80", ("10.244.1.2", 80)),
        ("10.244.1.2", None),
        ("fd00::a:58634", None),
        ("999.1.1.1:80", None),
        ("server-windows-1-1", None),
        ("", None),
    ],
)
def test_an_address_is_read_with_its_port(text: str, expected: tuple[str, int] | None) -> None:
    """``ip:port`` is read for both families, IPv6 in brackets only; anything else is no address."""
    assert client_address(text) == expected


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6), st.integers(1, 65535))
def test_every_address_comes_back(address: object, port: int) -> None:
    """Whatever Go prints of a remote address is read as that address."""
    text = f"[{address}]:{port}" if ":" in str(address) else f"{address}:{port}"
    read = client_address(text)
    assert read is not None
    mapped = getattr(address, "ipv4_mapped", None)
    assert read == (str(mapped or address), port)


@given(st.text(max_size=100))
def test_no_text_breaks_it(text: str) -> None:
    """Any text is an address, a name or neither; nothing raises."""
    answer = read_answer(text)
    assert answer.server_saw is None or answer.backend is None


@pytest.mark.parametrize("request_", ["hostname", ""])
def test_a_pod_name_is_the_backend(request_: str) -> None:
    """The answer to the question who serves is the backend's name."""
    assert read_answer("server-windows-1-1\n", request_) == Answer(backend="server-windows-1-1")


def test_a_strangers_page_is_not_the_expected_backend() -> None:
    """A proxy's error page, requested the hostname, counts as a backend of that odd name."""
    assert read_answer("404 page not found\n", "hostname").backend == "404 page not found"


def test_a_complaint_is_no_client_address() -> None:
    """A kubelet's complaint about TLS tells neither who answers nor whom it saw."""
    text = "Client sent an HTTP request to an HTTPS server.\n"
    assert read_answer(text, "clientip") == Answer()


HEALTHY = (
    '{"service": {"namespace": "n", "name": "s"}, "localEndpoints": 2, "serviceProxyHealthy": true}'
)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (HEALTHY, Outcome.HEALTHY),
        (HEALTHY.replace("2", "0"), Outcome.UNHEALTHY),
        (HEALTHY.replace("true", "false"), Outcome.UNHEALTHY),
        (HEALTHY.replace(', "serviceProxyHealthy": true', ""), Outcome.HEALTHY),  # before 1.28
        ("server-linux-1-1", Outcome.CONNECTED),
        ('{"localEndpoints": "many"}', Outcome.CONNECTED),
        ("[1]", Outcome.CONNECTED),
    ],
)
def test_a_health_check_port_tells_of_local_backends(body: str, outcome: Outcome) -> None:
    """Only kube-proxy's own answer is one; what anybody else says there is just an answer."""
    assert outcome_of(body, HEALTH, Outcome.CONNECTED) is outcome
    assert outcome_of(body, "hostname", Outcome.REPLIED) is Outcome.REPLIED


def test_what_looks_like_an_address_may_be_a_name() -> None:
    """Whoever was requested its hostname is taken at its word; requested nothing, the shape decides."""
    text = "10.244.1.2:80"
    assert read_answer(text, "hostname") == Answer(backend=text)
    assert read_answer(text, "clientip") == Answer(server_saw="10.244.1.2", source_port=80)
    assert read_answer(text) == Answer(server_saw="10.244.1.2", source_port=80)
    assert read_answer("a" * 90, "hostname") == Answer(backend="a" * 80)
    assert read_answer(" a  b ", "hostname") == Answer(backend="a b")
    assert read_answer("a b") == Answer()
