"""The one post of a run: where it may go, what it says on failure, and that its address is told to nobody."""

import logging
import socket
import threading

import pytest

from nettests.errors import PlanError
from nettests.plugin.notifications import Webhook, webhook_of, without_address
from nettests.plugin.option_table import WEBHOOK_VARIABLE
from nettests.redaction import REDACTED, Redactor
from tests.cluster.api import Reply, Request, serving

PATH = "/services/T0AB12CD3/B0EF45GH6/nobodysownsecretword24"
SECRET = f"https://hooks.slack.test{PATH}"
MESSAGE = {"text": "✓ all as documented", "blocks": []}


def posting(url: str) -> Webhook:
    """Return a webhook on loopback that does not wait between its attempts."""
    return Webhook(f"{url}{PATH}", pause=0.0, seconds=5.0)


def test_the_message_arrives_as_json() -> None:
    """One POST, with the type that is needed and nothing of this machine's accounts."""
    with serving(lambda _: Reply(body="ok", content_type="text/plain")) as server:
        assert posting(server.url).post(MESSAGE) == ""
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", PATH, MESSAGE)
    assert request.headers["content-type"] == "application/json"
    assert "authorization" not in request.headers


@pytest.mark.parametrize("first", [Reply(status=500), Reply(status=503), Reply(status=429), Reply(cut=True)])  # fmt: skip
def test_what_may_pass_is_tried_once_more(first: Reply) -> None:
    """An overloaded server, or one that hangs up, gets a second request; then the message has arrived."""
    replies = iter([first, Reply()])
    with serving(lambda _: next(replies)) as server:
        assert posting(server.url).post(MESSAGE) == ""
    assert len(server.requests) == 2


def test_it_is_tried_twice_and_no_more() -> None:
    """What stays broken is told by its status."""
    with serving(lambda _: Reply(status=502)) as server:
        assert posting(server.url).post(MESSAGE) == "it answered 502"
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 403, 404, 410])
def test_a_refusal_is_not_tried_again(status: int) -> None:
    """The same request would be refused again; the address may be out of use."""
    with serving(lambda _: Reply(status=status)) as server:
        problem = posting(server.url).post(MESSAGE)
    assert problem.startswith(f"it answered {status}: see whether the address is right")
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed() -> None:
    """Nobody but the user says where a summary goes."""
    with serving(lambda _: Reply()) as other:

        def away(_: Request) -> Reply:
            return Reply(status=307, headers={"Location": other.url})

        with serving(away) as server:
            assert "it answered 307" in posting(server.url).post(MESSAGE)
    assert other.requests == []


def test_a_server_that_is_not_there_is_a_reason() -> None:
    """In words of the system, without the address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    problem = posting(f"http://127.0.0.1:{port}").post(MESSAGE)
    assert "Connection refused" in problem
    assert "services" not in problem


@pytest.mark.parametrize("drips", [b"", b"H"])
def test_a_server_that_never_answers_is_waited_for_so_long(drips: bytes) -> None:
    """Silence and an answer that comes byte by byte both end by the deadline, twice."""
    ended, met = threading.Event(), []

    def hold(server: socket.socket) -> None:
        kept = []
        while not ended.is_set():
            try:
                kept.append(server.accept()[0])
            except OSError:
                break
            kept[-1].sendall(drips)
            met.append(1)
        for one in kept:
            one.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=hold, args=(server,))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        problem = Webhook(f"{url}{PATH}", pause=0.0, seconds=0.3).post(MESSAGE)
        ended.set()
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert problem
    assert "services" not in problem
    assert len(met) == 2


def test_the_environment_does_not_send_loopback_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A proxy would read the address of what is not encrypted."""
    with serving(lambda _: Reply()) as proxy, serving(lambda _: Reply()) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert posting(server.url).post(MESSAGE) == ""
    assert proxy.requests == []


def test_the_clients_own_log_holds_no_address(caplog: pytest.LogCaptureFixture) -> None:
    """At its lowest level, and where it warns of headers that it cannot read; afterwards it logs as ever."""
    caplog.set_level(logging.DEBUG)
    broken = Reply(headers={"no header at all\r\nX": "y"})
    with serving(lambda _: broken) as server:
        assert posting(server.url).post(MESSAGE) == ""
    assert "services" not in caplog.text
    for name in ("urllib3.connection", "urllib3.connectionpool"):
        logging.getLogger(name).warning("heard of %s", name)
        assert f"heard of {name}" in caplog.text


@pytest.mark.parametrize(
    "address",
    [
        *("https://hooks.slack.test/services/x", "https://[2001:db8::1]:8443/x"),
        *("http://127.0.0.1:8080/x", "http://[::1]:8080/x", "http://localhost/x"),
        "  https://hooks.slack.test/x\n",
    ],
)
def test_encrypted_addresses_and_loopback_are_taken(address: str) -> None:
    """Blanks around it, as files of secrets have them, are none of it."""
    found = webhook_of(address)
    assert found is not None
    assert found.address == address.strip()


@pytest.mark.parametrize(
    "address",
    [
        *("http://hooks.slack.test/secretword", "http://10.0.0.1/secretword"),
        *("ftp://127.0.0.1/secretword", "hooks.slack.test/secretword", "https:///secretword"),
        *("https://x:port/secretword", "https://[x/secretword", "https://x/secret word"),
        *("https://x/secretword\x1b[31m", "http://127.0.0.1.x.test/secretword", "secretword"),
        *("https://x:0/secretword", "file:///secretword"),
    ],
)
def test_what_is_neither_is_refused_without_being_repeated(address: str) -> None:
    """Before anything runs, with what is allowed instead."""
    with pytest.raises(PlanError) as refused:
        webhook_of(address)
    assert "secret" not in str(refused.value).replace("it is a secret", "")
    assert "https://" in str(refused.value)


def test_it_is_off_unless_somebody_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the option or the environment; the option goes first, and an empty one switches the other off."""
    monkeypatch.delenv(WEBHOOK_VARIABLE, raising=False)
    assert webhook_of(None) is None
    monkeypatch.setenv(WEBHOOK_VARIABLE, "")
    assert webhook_of(None) is None
    monkeypatch.setenv(WEBHOOK_VARIABLE, SECRET)
    assert webhook_of(None) == Webhook(SECRET)
    assert webhook_of("https://other.test/x") == Webhook("https://other.test/x")
    assert webhook_of("") is None


def test_the_address_is_a_secret_in_all_its_parts() -> None:
    """Whole, without its host, and its last word; words that a report may have of its own are none."""
    redactor = Redactor(Webhook(SECRET).secrets())
    last = PATH.rpartition("/")[2]
    for text in (SECRET, PATH, last, f"HTTPSConnectionPool: url: {PATH} (Caused by x)"):
        assert last not in redactor.text(text)
        assert REDACTED in redactor.text(text)
    plain = Redactor(Webhook("http://127.0.0.1:1/dial?x=y").secrets())
    assert plain.text("GET /dial?request=hostname") == "GET /dial?request=hostname"
    assert SECRET not in repr(Webhook(SECRET))


def test_a_command_line_is_recorded_without_it() -> None:
    """In one word, in two, named twice, or within another option; other words stay."""
    words = ["run", f"--webhook={SECRET}", "--webhook", SECRET, "-x"]
    within = f"addopts=-q --webhook {SECRET} --webhook={SECRET}"
    assert without_address([*words, "-o", within]) == (
        *("run", f"--webhook={REDACTED}", "--webhook", REDACTED, "-x"),
        *("-o", f"addopts=-q --webhook {REDACTED} --webhook={REDACTED}"),
    )
    assert without_address(["--webhook=", "-k", "webhook"]) == ("--webhook=", "-k", "webhook")
    assert without_address([]) == ()
