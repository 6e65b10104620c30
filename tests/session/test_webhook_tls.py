"""The post of a run over TLS: which certificates it trusts, and that no error tells the address."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from nettests.plugin.notifications import Webhook, webhook_of
from tests.cluster.api import Api, Reply, serving

PATH = "/services/T0AB12CD3/B0EF45GH6/nobodysownsecretword24"
NOW = datetime.now(UTC)
LONG_AGO, AGO = NOW - timedelta(days=3), NOW - timedelta(days=1)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """A company's own, which the environment names."""
    made = trustme.CA()
    file = tmp_path / "ca.pem"
    made.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    for name in ("HTTPS_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return made


def context(authority: trustme.CA, *names: str, **more: datetime) -> ssl.SSLContext:
    """A server's, with a certificate of that authority."""
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("127.0.0.1",)), **more).configure_cert(found)  # type: ignore[arg-type]
    return found


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[Api]:
    """One that the authority knows."""
    with serving(lambda _: Reply(), context(authority)) as api:
        yield api


def posted(api: Api) -> str:
    """What became of a post."""
    problem = Webhook(f"{api.url}{PATH}", pause=0.0, seconds=5.0).post({"text": "x"})
    assert "services" not in problem
    assert "nobodysown" not in problem
    return problem


def test_an_authority_of_the_environment_is_trusted(server: Api) -> None:
    """A private CA, as most companies have one before their chat."""
    assert posted(server) == ""
    assert [one.path for one in server.requests] == [PATH]


def test_without_it_nothing_is_sent(server: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address would be read by whoever answers."""
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    assert "unable to get local issuer certificate" in posted(server)
    assert server.requests == []


@pytest.mark.parametrize(
    ("names", "more", "said"),
    [
        (("example.org",), {}, "not valid for"),
        ((), {"not_before": LONG_AGO, "not_after": AGO}, "certificate has expired"),
    ],
)
def test_a_certificate_of_another_name_or_time_is_refused(
    authority: trustme.CA, names: tuple[str, ...], more: dict[str, datetime], said: str
) -> None:
    """Nothing of the message is sent to it."""
    with serving(lambda _: Reply(), context(authority, *names, **more)) as api:
        assert said in posted(api)
    assert api.requests == []


@pytest.mark.parametrize(
    ("bundle", "said"), [("/nowhere/ca.pem", "invalid path: /nowhere/ca.pem"), ("junk", "no cert")]
)
def test_a_bundle_that_is_none_is_said(
    server: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundle: str, said: str
) -> None:
    """By its path, which is what somebody has to mend."""
    (tmp_path / "junk").write_text("no certificate")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / bundle))
    assert said in posted(server)
    assert server.requests == []


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_out_of_tls_is_not_followed(authority: trustme.CA, status: int) -> None:
    """Nor one within it."""
    with serving(lambda _: Reply()) as other:
        away = Reply(status=status, headers={"Location": f"{other.url}{PATH}"})
        with serving(lambda _: away, context(authority)) as api:
            assert f"it answered {status}" in posted(api)
    assert other.requests == []


def test_a_server_without_tls_gets_nothing(authority: trustme.CA) -> None:
    """An https address is never spoken to in the clear."""
    with serving(lambda _: Reply()) as api:
        address = api.url.replace("http:", "https:")
        assert "wrong version number" in posted(Api(url=address))
    assert api.requests == []


def test_a_handshake_that_never_ends_ends(authority: trustme.CA) -> None:
    """A server that takes the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        problem = Webhook(f"{url}{PATH}", pause=0.0, seconds=0.3).post({})
    assert problem == "no answer within 0.3 s"


@pytest.mark.parametrize("headers", [{f"X{n}": "y" for n in range(300)}, {"X": "y" * 100_000}])
def test_headers_without_end_are_no_answer(authority: trustme.CA, headers: dict[str, str]) -> None:
    """The HTTP client's own bounds hold; what it says of them is kept back."""
    with serving(lambda _: Reply(headers=headers), context(authority)) as api:
        assert posted(api).startswith("no connection")


def test_a_proxy_sees_no_path(server: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given a host to connect to; what it refuses tells neither the address nor its own password."""
    with serving(lambda _: Reply(status=407)) as proxy:
        address = proxy.url.replace("//", "//user:pa55word@")
        monkeypatch.setenv("HTTPS_PROXY", address)
        problem = posted(server)
    assert problem.startswith("no connection (ProxyError: ")
    assert "pa55word" not in problem
    assert server.requests == []
    assert not [one for one in proxy.requests if PATH in one.path]


@pytest.mark.parametrize("host", ["ä..x", "a" * 300, "..", "xn--"])
def test_a_host_that_cannot_be_one_is_a_reason(authority: trustme.CA, host: str, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """It is no accident of ours, and no name is looked up for it."""
    monkeypatch.setattr(socket, "getaddrinfo", _unknown)
    hook = webhook_of(f"https://{host}{PATH}")
    assert hook is not None
    problem = Webhook(hook.address, pause=0.0, seconds=1.0).post({})
    assert problem.startswith("no connection (")
    assert "nobodysown" not in problem


def _unknown(*_: object, **__: object) -> None:
    raise socket.gaierror(-2, "Name or service not known")
