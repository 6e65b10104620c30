"""``/dial`` of agnhost netexec, from recorded answers."""

import json
from dataclasses import replace

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from nettests.parse.read import read_resolution
from tests.parse.raws import GIVEN, UDP, raw, recorded_dial

REFUSED_WINDOWS = (
    '{"errors":["Get \\"http://10.244.2.5:9999/hostname\\": dial tcp 10.244.2.5:9999: connectex: '
    'No connection could be made because the target machine actively refused it."]}'
)


@pytest.mark.parametrize(
    ("note", "outcome"),
    [
        ("http ok, default protocol", Outcome.CONNECTED),
        ("udp ok", Outcome.REPLIED),
        ("http target answers 500", Outcome.CONNECTED),
        ("clientip", Outcome.CONNECTED),
        ("udp clientip", Outcome.REPLIED),
        ("http refused", Outcome.REFUSED),
        ("udp refused", Outcome.REFUSED),
        ("udp unknown command: no answer, timeout", Outcome.TIMED_OUT),
        ("http blackhole timeout", Outcome.TIMED_OUT),
        ("udp blackhole timeout", Outcome.TIMED_OUT),
        ("http net unreachable (ICMP)", Outcome.UNREACHABLE),
        ("http host unreachable (no ARP)", Outcome.UNREACHABLE),
        ("DNS failure (server refuses)", Outcome.REFUSED),
        ("name with NXDOMAIN", Outcome.NXDOMAIN),
        ("absolute name, NXDOMAIN from upstream", Outcome.NXDOMAIN),
        ("service without endpoints", Outcome.REFUSED),
        ("unused pod address on another node", Outcome.UNREACHABLE),
        ("blackhole", Outcome.TIMED_OUT),
        # Our own mistakes, and what tells nothing:
        ("http ok, several responses", Outcome.PROBE_FAILED),
        ("http ok, empty body", Outcome.PROBE_FAILED),
        ("empty 200 body", Outcome.PROBE_FAILED),
        ("no request", Outcome.PROBE_FAILED),
        ("bad tries", Outcome.PROBE_FAILED),
        ("bad protocol", Outcome.PROBE_FAILED),
        ("bad port", Outcome.PROBE_FAILED),
        ("sctp", Outcome.PROBE_FAILED),
        ("tries=0", Outcome.PROBE_FAILED),
    ],
)
def test_recorded_answers(note: str, outcome: Outcome) -> None:
    """Answers recorded from agnhost 2.63 are read as what happened."""
    assert read_raw(recorded_dial(note)).outcome is outcome


def test_who_answers_is_the_backend() -> None:
    """A recorded answer across nodes names the pod that served it."""
    attempt = read_raw(recorded_dial("http across nodes"))
    assert (attempt.outcome, attempt.backend) == (Outcome.CONNECTED, "netexec-qncfp")


def test_whom_the_server_saw_is_told_with_its_port() -> None:
    """A recorded answer to ``clientip`` gives address and source port apart."""
    attempt = read_raw(recorded_dial("source address seen"))
    assert (attempt.server_saw, attempt.source_port) == ("10.244.1.2", 56880)


def test_windows_texts_are_read_on_windows() -> None:
    """The text of a refusal on Windows is understood from a Windows client only."""
    windows = raw("dial", client_os="windows", status=200, stdout=REFUSED_WINDOWS)
    assert read_raw(windows).outcome is Outcome.REFUSED
    assert read_raw(raw("dial", status=200, stdout=REFUSED_WINDOWS)).outcome is Outcome.PROBE_FAILED


@pytest.mark.parametrize(
    "changes",
    [
        {"status": 502, "stdout": "Bad Gateway"},
        {"status": 503, "stdout": '{"kind":"Status"}'},
        {"status": 503, "stdout": '{"responses":["server-1"]}'},
        {"status": 200, "stdout": ""},
        {"status": 200, "stdout": "[]"},
        {"status": 200, "stdout": '{"kind":"Status","code":404}'},
        {"status": 200, "stdout": '{"responses":[""]}x'},
        {"stdout": '{"responses":["a"]}'},
        {"exit_code": 28, "stderr": "curl: (28) timed out"},
        {"status": 200, "stdout": '{"responses":["a"]}', "error": "connection lost"},
    ],
)
def test_what_the_channel_spoils_is_no_answer(changes: dict[str, object]) -> None:
    """Errors of the control channel, lost exit codes and foreign documents say nothing of the network."""
    assert read_raw(raw("dial", **changes)).outcome is Outcome.PROBE_FAILED


def test_dial_over_exec_is_read_by_its_body() -> None:
    """Over exec there is no status: the body that curl printed tells."""
    attempt = read_raw(raw("dial", channel="exec", exit_code=0, stdout='{"responses":["a"]}'))
    assert (attempt.outcome, attempt.backend) == (Outcome.CONNECTED, "a")


@pytest.mark.parametrize(
    ("note", "outcome", "addresses"),
    [
        ("service name", Outcome.PROBE_FAILED, ()),  # five answers to one question
        ("name with NXDOMAIN", Outcome.NXDOMAIN, ()),
        ("service without endpoints", Outcome.RESOLVED, ("10.96.63.117",)),
        ("blackhole", Outcome.RESOLVED, ("192.0.2.1",)),
        ("http across nodes", Outcome.RESOLVED, ()),
        ("DNS failure (server refuses)", Outcome.REFUSED, ()),
    ],
)
def test_a_name_alone_resolves_whatever_dialling_brings(
    note: str, outcome: Outcome, addresses: tuple[str, ...]
) -> None:
    """Requested the name, a refused or lost connection still means that the name resolved."""
    attempt = read_resolution(recorded_dial(note))
    assert (attempt.outcome, attempt.addresses) == (outcome, addresses)


@pytest.mark.parametrize(("command", "outcome"), [(GIVEN, "connected"), (UDP, "replied")])
def test_protocol_decides_the_word(command: tuple[str, ...], outcome: str) -> None:
    """TCP connects, UDP replies."""
    answer = raw("dial", command=command, status=200, stdout='{"responses":["a"]}')
    assert read_raw(answer).outcome == outcome


def test_a_name_resolved_over_udp_tells_its_address() -> None:
    """netexec's UDP errors name the address that the dial went to."""
    text = "reading from udp connection failed. err:'read udp 10.244.1.59:4->10.96.0.9:81: read: connection refused'"
    answer = raw("dial", command=UDP, status=200, stdout=json.dumps({"errors": [text]}))
    assert read_resolution(answer).addresses == ("10.96.0.9",)


def test_who_answered_behind_a_name_is_kept() -> None:
    """A name that leads to a stranger is no success, so the stranger's name is read."""
    answer = raw("dial", command=UDP, status=200, stdout='{"responses":["stranger"]}',
                 context={"request": "hostname"})  # fmt: skip
    assert read_resolution(answer).backend == "stranger"


def test_the_probe_tells_at_which_stage_it_failed() -> None:
    """A name that it could not resolve is read by the table of names, an error of dialling by that of addresses."""
    unresolved = raw("dial", status=400, stdout="host and/or port param are invalid. no such host")
    assert read_raw(unresolved).outcome is Outcome.NXDOMAIN
    for stdout, outcome in (
        ('{"errors":["no such host"]}', Outcome.PROBE_FAILED),
        ('{"errors":["lookup a.b: connection refused"]}', Outcome.REFUSED),
        ('{"errors":["lookup a.b: server misbehaving"]}', Outcome.PROBE_FAILED),
    ):
        assert read_raw(replace(unresolved, status=200, stdout=stdout)).outcome is outcome
    odd = read_raw(replace(unresolved, status=200, stdout='{"errors":["odd"]}'))
    assert odd.detail == "not understood: odd"
