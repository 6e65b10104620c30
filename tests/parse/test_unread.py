"""What no parser knows is told apart from what failed on its way, and from what is read."""

from dataclasses import replace

import pytest

from nettests.model.observation import Raw
from nettests.model.words import OS
from nettests.parse.read import not_read, read_raw
from nettests.parse.unread import unread_texts
from tests.parse.raws import raw

GERMAN = "Ping-Anforderung konnte Host nicht finden."


def strange(check: str = "flow/a", text: str = GERMAN) -> Raw:
    """Return what ping says of an unknown name in another language."""
    return raw("ping", check=check, client_os=OS.WINDOWS, exit_code=1, status=None, stdout=text)


@pytest.mark.parametrize(
    "one",
    [
        strange(),
        raw("nslookup", exit_code=0, status=None, stdout="*** Fehler im Server"),
        raw("resolve_dnsname", exit_code=1, status=None, stdout="Fehler"),
        raw("curl", exit_code=99, status=None, stderr="curl: (99) ?"),
        raw(
            "connect",
            exit_code=1,
            status=None,
            stderr="OTHER: dial tcp: connectex: Zugriff verweigert",
        ),
        raw("dial", status=200, stdout='{"errors": ["dial tcp: connectex: Zugriff verweigert"]}'),
        raw("dial", status=200, stdout="<html>"),
        raw("admission", status=422, stdout="<html>"),
    ],
    ids=lambda one: one.tool,
)
def test_a_text_that_no_parser_knows_is_said(one: Raw) -> None:
    """Of each tool whose answer is a text of somebody else's; the attempt is ``probe_failed`` as before."""
    assert not_read(one)
    assert read_raw(one).outcome.value == "probe_failed"


@pytest.mark.parametrize(
    "one",
    [
        replace(strange(), error="stream was cut"),
        replace(strange(), exit_code=None),
        replace(strange(), tool="no such tool"),
        raw(
            "ping",
            client_os=OS.WINDOWS,
            exit_code=1,
            status=None,
            stdout="Ping request could not find host a.",
        ),
        raw("dial", status=200, stdout='{"responses": ["10.0.0.1:5"]}'),
        raw("dial", status=500, stdout="error trying to reach service"),
    ],
    ids=["channel", "exit code lost", "other tool", "read", "answered", "proxy"],
)
def test_what_failed_on_its_way_is_no_unknown_text(one: Raw) -> None:
    """A control channel's error, a lost exit code, and what is understood."""
    assert not_read(one) is None


def test_texts_that_differ_in_numbers_are_one() -> None:
    """Each wording once, with the checks of which it is an answer, members as their check; most checks first."""
    told = unread_texts(
        [
            strange("flow/once", "Unerwartet"),
            strange("flow/a", "Antwort von 10.0.0.1 nach 5ms"),
            strange("flow/b#win-1 → win-2", "Antwort von 10.0.0.2 nach 17ms"),
            strange("flow/b", "Antwort von 10.0.0.2 nach 17ms"),
            raw("dial", status=200, stdout='{"responses": ["x"]}'),
        ]
    )
    assert [(one.tool, one.client_os, one.text) for one in told] == [
        ("ping", "windows", "ping ended with code 1: Antwort von 10.0.0.1 nach 5ms"),
        ("ping", "windows", "ping ended with code 1: Unerwartet"),
    ]
    assert [one.checks for one in told] == [("flow/a", "flow/b"), ("flow/once",)]


def test_a_run_that_is_read_has_none() -> None:
    """No answers, no texts."""
    assert unread_texts([]) == ()
