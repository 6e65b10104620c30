"""The external vantage: through a forward proxy of squid's manner, on loopback."""

import pytest

from nettests.model.channel import ChannelError
from nettests.probes.external import External, Fetched
from tests.cluster.api import Reply, Request, serving


def fetch(reply: Reply, seen: list[Request] | None = None) -> Fetched:
    """Fetch a NodePort through a proxy that answers so."""
    with serving(lambda _: reply) as proxy:
        found = External(proxy=proxy.url.replace("http://", "http://lab:secret@")).fetch(
            "http://172.30.0.13:30080/hostname", timeout=2, margin=2
        )
        if seen is not None:
            seen.extend(proxy.requests)
    return found


def test_the_targets_answer_comes_through() -> None:
    """The proxy is requested the whole address, with its credentials; the body is the target's."""
    seen: list[Request] = []
    found = fetch(Reply(body=b"server-windows-1-1", content_type="text/plain"), seen)
    assert found == Fetched(status=200, body="server-windows-1-1")
    assert seen[0].path == "http://172.30.0.13:30080/hostname"
    assert seen[0].headers["proxy-authorization"].startswith("Basic ")


def test_a_failed_connection_behind_the_proxy_is_an_observation() -> None:
    """squid reports errno in a header: that is what was seen outside, not a broken channel."""
    reply = Reply(status=503, body=b"", headers={"X-Squid-Error": "ERR_CONNECT_FAIL 110"})
    assert fetch(reply) == Fetched(status=503, body="", error="X-Squid-Error: ERR_CONNECT_FAIL 110")


@pytest.mark.parametrize("code", [407, 502, 504])
def test_the_proxys_own_failure_is_a_channel_error(code: int) -> None:
    """A proxy that refuses its client or breaks down says nothing about the target."""
    with pytest.raises(ChannelError, match=f"the external proxy answered {code}"):
        fetch(Reply(status=code, body=b""))


def test_an_unreachable_proxy_is_a_channel_error_without_its_password() -> None:
    """Nothing listens: the error does not spell the credentials."""
    with pytest.raises(ChannelError) as raised:
        External(proxy="http://lab:secret@127.0.0.1:1").fetch("http://a/", timeout=1, margin=1)
    assert "secret" not in str(raised.value)


def test_the_environment_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is neither used nor bypassed by NO_PROXY."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "*")
    assert fetch(Reply(body=b"ok", content_type="text/plain")).body == "ok"


def test_a_direct_refusal_is_an_observation() -> None:
    """Without a proxy the system's own error is what was seen."""
    found = External(proxy=None).fetch("http://127.0.0.1:1/", timeout=1, margin=1)
    assert found.status is None
    assert "Connection refused" in found.error
