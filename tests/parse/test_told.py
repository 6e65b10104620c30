"""The sentence that people read beside an outcome: what was met, word for word, for every tool."""

import json
from typing import Any

import pytest

from nettests.model.json_text import Object
from nettests.model.words import Outcome, Question
from nettests.parse import read_raw
from nettests.parse.read import positive, read_answer, read_resolution
from nettests.parse.reading import one_line
from tests.parse.raws import raw
from tests.parse.test_start import (
    NON_ROOT,
    READY,
    UNREADY,
    attempt,
    renewed,
    waiting,
)


def told(record: Object, **context: str) -> str:
    """Return the detail of a record of a Pod that started."""
    return attempt(record, **context).detail


@pytest.mark.parametrize(
    ("then", "says", "said"),
    [
        ({"stdout": "User  Manager\\ContainerUser\r\n"}, "containeruser", "it said User Manager\\ContainerUser"),
        ({"stdout": "hello"}, "", "it said hello"),
        ({"stdout": "a", "stderr": "b"}, "c", "it said a instead of 'c'"),
        ({"stderr": " only this "}, "c", "it said only this instead of 'c'"),
        ({}, "c", "it ended with exit code 0 and printed nothing"),
        ({"status": 404, "stdout": "c"}, "c", "it said c instead of 'c'"),
        ({"status": 200, "stdout": "c"}, "c", "it said c"),
        ({"exit_code": 3, "stdout": "a"}, "a", "it ended with exit code 3 and said a"),
        ({"exit_code": 3, "stderr": "b\n"}, "a", "it ended with exit code 3 and said b"),
        ({"exit_code": 3}, "a", "it ended with exit code 3 and said nothing"),
        ({"error": "exec was cut: reset"}, "a", "exec was cut: reset"),
        ({"error": "connectex: actively refused it"}, "a", "connectex: actively refused it"),
        ({"error": "malformed HTTP response"}, "a", "malformed HTTP response"),
    ],
)  # fmt: skip
def test_what_was_done_afterwards_is_told(then: Object, says: str, said: str) -> None:
    """How, what came of it, and what should have; standard error where the output says nothing."""
    context = {"then": "exec", **({"says": says} if says else {})}
    assert told({"status": READY, "then": then}, **context) == f"exec: {said}"


def test_an_error_that_is_an_answer_is_no_proof_of_what_was_tested() -> None:
    """A listener that speaks another protocol answered, and said nothing of what the case requests."""
    then = {"error": "malformed HTTP response"}
    read = attempt({"status": READY, "then": then}, then="exec", says="")
    assert read.outcome is Outcome.PROBE_FAILED


def test_curl_in_a_pod_speaks_for_itself() -> None:
    """Its own text is told, and its code where it said nothing."""
    for stderr, said in (
        (" curl: (28)\n late ", "curl: (28) late"),
        (None, "curl ended with code 28"),
    ):
        then = {"exit_code": 28, **({"stderr": stderr} if stderr else {})}
        answer = raw(
            "start",
            stdout=json.dumps({"status": READY, "then": then}),
            command=("create", "{}", "exec", "curl", "http://a.b/"),
            context={"then": "exec", "says": "c"},
        )
        assert (read_raw(answer).outcome, read_raw(answer).detail) == (Outcome.TIMED_OUT, said)


@pytest.mark.parametrize(
    ("status", "events", "reasons", "said"),
    [
        (READY, [], "", "started, the Pod's address is 10.244.3.5"),
        ({**READY, "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}, {}]}, [], "", "started, the Pod's address is 10.0.0.1, fd00::1"),
        ({"phase": "Succeeded"}, [], "", "started, the Pod's address is not known"),
        (UNREADY, [], "", "first: runs, but is not Ready"),
        (waiting("ContainerCreating"), [], "", "it did not start for a reason that is not its own: phase Pending, no reason given"),
        (waiting("ErrImagePull", "gone"), [], "", "it did not start for a reason that is not its own: first: ErrImagePull: gone"),
        (NON_ROOT, [], "PodOSNotSupported\nanother", ("it did not start, but not for PodOSNotSupported or another: first: "
         "CreateContainerConfigError: container has runAsNonRoot and image will run as root")),
        ({"phase": "Pending"}, [{"type": "Warning", "reason": "One", "message": "m"}], "One", "One: m"),
        ({"phase": "Pending"}, [{"type": "Normal", "reason": "Pulled", "message": "m"}, {"type": "Warning", "reason": "One", "message": "m"},
                                {"type": "Warning", "reason": "Two", "message": "n"}], "One", "Two: n"),
    ],
)  # fmt: skip
def test_why_a_pod_did_not_start_is_told(
    status: Object, events: list[Object], reasons: str, said: str
) -> None:
    """The Pod's own words first, then the last warning, then that nobody said anything."""
    assert told({"status": status, "events": events}, reasons=reasons) == said


@pytest.mark.parametrize(
    ("status", "nodes", "said"),
    [
        ({"podIP": "10.0.0.1"}, "172.30.0.1,10.0.0.1", "the Pod's address is 10.244.3.5, its node has 172.30.0.1,10.0.0.1"),
        ({"podIP": "10.0.0.9"}, "172.30.0.1", "the Pod's address is 10.244.3.5, its node has 172.30.0.1"),
        ({"podIP": None}, "172.30.0.1", "the Pod started, but its status has no address"),
        ({}, "", "the Pod's address is 10.244.3.5, but its node's addresses are not known"),
    ],
)  # fmt: skip
def test_whose_address_a_pod_has_is_told(status: Object, nodes: str, said: str) -> None:
    """Both addresses, or which one is missing."""
    context = {"then": "address", **({"client-node": nodes} if nodes else {})}
    assert told({"status": {**READY, **status}}, **context) == said


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ({"before": "a", "after": "b", "restarts": 1}, "the Pod's address was a and is b after 1 restart"),
        ({"before": "a", "after": None, "restarts": 2}, "the Pod's address was a and is none after 2 restart"),
        ({"restarts": 0}, "its container was not restarted in time; the Pod's address is none yet"),
    ],
)  # fmt: skip
def test_what_a_restart_left_is_told(then: Object, said: str) -> None:
    """The address before and after, however it ended."""
    assert told({"status": READY, "then": then}, then="restart") == said


@pytest.mark.parametrize(
    ("seconds", "gone", "said", "outcome"),
    [
        (3.0, True, "gone after 3.0 s", Outcome.CONFORMS),
        (2.99, True, "gone after 3.0 s", Outcome.DEVIATES),
        (30.0, True, "gone after 30.0 s", Outcome.DEVIATES),
        (29.96, True, "gone after 30.0 s", Outcome.CONFORMS),
        (12.34, False, "still there after 12.3 s", Outcome.DEVIATES),
    ],
)
def test_when_a_pod_ended_is_told(
    seconds: float, said: str, outcome: Outcome, *, gone: bool
) -> None:
    """What its server takes is enough time, and all of its grace is too much."""
    then = {"seconds": seconds, "gone": gone, "grace": 30}
    read = attempt({"status": READY, "then": then}, then="end", says="3")
    assert read.detail == f"{said}: its server takes 3 s, its grace is 30 s"
    assert read.outcome is outcome


NAME = "set-0.sets.n.svc.cluster.local"
ELSEWHERE = {
    "asked": NAME,
    "stdout": "",
    "stderr": f"** server can't find {NAME}: NXDOMAIN",
}


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (renewed(), f"set-0 was recreated; {NAME}: resolved to 10.244.3.5"),
        (renewed(hostname=""), "hostname ended with 0 in Pod set-0 and printed nothing"),
        (renewed(hostname="other"), "Pod set-0 calls itself other"),
        (renewed(address="10.0.0.9"), f"the Pod that was recreated as set-0 has 10.0.0.9, but {NAME}: resolved to 10.244.3.5"),
        (renewed(lookup=ELSEWHERE), f"the Pod that was recreated as set-0 has 10.244.3.5, but {NAME}: {ELSEWHERE['stderr']}"),
        (renewed(lookup={**ELSEWHERE, "stderr": ";; connection timed out"}), f"{NAME}: ;; connection timed out"),
        (renewed(lookup={**ELSEWHERE, "stderr": "Segfault"}), f"{NAME}: nslookup's output is not understood: Segfault"),
        (renewed(uids=["a", "a"]), "no other Pod set-0 came: a"),
        (renewed(stays="not Ready"), "no other Pod set-0 came: not Ready"),
    ],
)  # fmt: skip
def test_who_came_in_a_pods_place_is_told(then: Object, said: str) -> None:
    """Its name for itself and in DNS, from what nslookup wrote to either stream."""
    assert told({"status": READY, "then": then}, then="renew") == said


@pytest.mark.parametrize(
    ("tool", "changes", "said"),
    [
        ("curl", {"exit_code": None, "stderr": "e", "stdout": "o"}, "curl's exit code was lost: e"),
        ("curl", {"exit_code": None, "stdout": "o"}, "curl's exit code was lost: o"),
        ("curl", {"exit_code": 0}, "curl brought an empty answer"),
        ("curl", {"exit_code": 35, "stderr": "odd"}, "answered, curl code 35: odd"),
        ("curl", {"exit_code": 2, "stderr": "odd"}, "curl ended with code 2: odd"),
        ("curl", {"exit_code": 28, "stderr": " a \n b"}, "a b"),
        ("curl", {"exit_code": 28}, "curl ended with code 28"),
        ("http", {"status": 407}, "the external proxy answered 407"),
        ("http", {"status": 200}, "an empty answer with status 200"),
        ("http", {"stderr": "X-Squid-Error: ERR_ACCESS_DENIED"}, "the external proxy reports ERR_ACCESS_DENIED 0"),
        ("http", {"stderr": "X-Squid-Error: ERR_CONNECT_FAIL 111"}, "the proxy outside reports ERR_CONNECT_FAIL 111"),
        ("http", {"stderr": "SOCKS reply 1: it failed"}, "the external proxy replies 1: it failed"),
        ("http", {"stderr": "SOCKS reply 5: it refused"}, "the proxy outside replies 5: it refused"),
        ("http", {"stderr": "timed out:\n late"}, "timed out: late"),
        ("http", {"stderr": "E: Name or service not known"}, "E: Name or service not known"),
        ("http", {"stderr": "E: Connection refused"}, "E: Connection refused"),
        ("http", {"stderr": "E: new"}, "not understood: E: new"),
        ("http", {}, "not understood: no answer"),
        ("start", {"stdout": "[]"}, "no record of a Pod: []"),
        ("telnet", {}, "telnet cannot answer this question"),
        ("connect", {"exit_code": 0}, "answered"),
        ("connect", {"stdout": "odd"}, "agnhost connect: exit code lost: odd"),
        ("connect", {"exit_code": 1, "stderr": "REFUSED\n"}, "REFUSED"),
        ("connect", {"exit_code": 1, "stderr": "TIMEOUT: i/o  timeout"}, "TIMEOUT: i/o timeout"),
        ("connect", {"exit_code": 1, "stderr": "DNS: no such host"}, "DNS: no such host"),
        ("connect", {"exit_code": 1, "stderr": "OTHER: odd"}, "not understood: OTHER: odd"),
        ("connect", {"exit_code": 1, "stderr": "TIMEOUT: a\n b"}, "TIMEOUT: a b"),
        ("nslookup", {"stdout": "Name: a\nAddress: 10.0.0.1\nAddress: fd00::1\n"}, "resolved to 10.0.0.1, fd00::1"),
        ("nslookup", {"stdout": "Name: a\nAddress: 10.0.0.1\nName: a\nAddress: fd00::1\n"}, "resolved to 10.0.0.1, fd00::1"),
        ("nslookup", {"stdout": "Server: x\nAddress: y\n\n** server can't find a: NXDOMAIN\n"}, "** server can't find a: NXDOMAIN"),
        ("nslookup", {"stdout": "Server: x\n** server can't find a: NXDOMAIN\nmore\n"}, "** server can't find a: NXDOMAIN"),
        ("connect", {"exit_code": 7, "stdout": "odd"}, "agnhost connect: exit code 7: odd"),
        ("connect", {"exit_code": 7, "stderr": "err", "stdout": "odd"}, "agnhost connect: exit code 7: err"),
        ("idle", {"stdout": "[]"}, "no record of a silent connection: []"),
        ("nslookup", {"stdout": "Name: a\nAddress: 10.0.0.1\nAliases: b\nAddress: 10.0.0.1\n"}, "resolved to 10.0.0.1"),
        ("dial", {"error": "it broke"}, "control channel pod-proxy: it broke"),
        ("dial", {"stderr": "err", "stdout": "odd"}, "/dial was not answered (no exit code): err"),
        ("dial", {"exit_code": 7, "stdout": "odd"}, "/dial was not answered (exit code 7): odd"),
        ("dial", {"status": 502, "stdout": "odd"}, "the control channel answered 502: odd"),
        ("dial", {"status": 200, "stdout": "odd"}, "/dial answered 200 with 'odd'"),
        ("dial", {"exit_code": 0, "stdout": "odd"}, "/dial answered with 'odd'"),
        ("dial", {"status": 200, "stdout": '{"other":1}'}, "/dial answered 200 with '{\"other\":1}'"),
        ("dial", {"status": 200, "stdout": "{}"}, "/dial brought 0 answers to one question"),
        ("dial", {"status": 400, "stdout": "host and/or port param are invalid. lookup a.b: no such host"}, "lookup a.b: no such host"),
        ("resolve_dnsname", {"stdout": "a A 5 Answer 10.0.0.1\na AAAA 5 Answer fd00::1\n"}, "resolved to 10.0.0.1, fd00::1"),
        ("resolve_dnsname", {"stderr": "FullyQualifiedErrorId : ERROR_TIMEOUT,M"}, "ERROR_TIMEOUT"),
        ("resolve_dnsname", {"stdout": "a   SOA    5     Authority  b\n"}, "the name has no address"),
        ("resolve_dnsname", {"stdout": "a\nb", "stderr": "c"}, "Resolve-DnsName's output is not understood: a b c"),
    ],
)  # fmt: skip
def test_what_a_tool_met_is_told(tool: str, changes: dict[str, Any], said: str) -> None:
    """On one line, in the tool's words where it has any."""
    assert read_raw(raw(tool, **changes)).detail == said


def test_the_windows_dns_client_tells_every_address() -> None:
    """Those of both families, in their order."""
    stdout = "a A 5 Answer 10.0.0.1\na AAAA 5 Answer fd00::1\n"
    assert read_raw(raw("resolve_dnsname", stdout=stdout)).addresses == ("10.0.0.1", "fd00::1")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("lookup a.b: Connection refused", Outcome.REFUSED),
        ("lookup a.b: context deadline exceeded (Client.Timeout exceeded", Outcome.TIMED_OUT),
        ("lookup a.b: read: no such host", Outcome.PROBE_FAILED),
    ],
)
def test_outside_an_error_is_about_an_address(text: str, outcome: Outcome) -> None:
    """Whoever dials knows the stage: a text that names a lookup is read by the table of addresses all the same."""
    assert read_raw(raw("http", stderr=text)).outcome is outcome
    answer = raw("curl", exit_code=7, stderr=text)
    assert read_raw(answer).outcome is (
        Outcome.REFUSED if outcome is Outcome.PROBE_FAILED else outcome
    )


@pytest.mark.parametrize(
    ("responses", "address"),
    [
        ({"errors": ['Get "http://[fd00::7]:80/hostname": EOF']}, ("fd00::7",)),
        ({"errors": ["read udp 10.0.0.1:4->10.96.0.7:81: read: connection refused"]}, ("10.96.0.7",)),
        ({"responses": ["server-1"]}, ()),
    ],
)  # fmt: skip
def test_a_name_that_resolved_tells_where_it_led(
    responses: Object, address: tuple[str, ...]
) -> None:
    """The address that was dialled is the name's, without the brackets of a URL."""
    seen = read_resolution(
        raw("dial", status=200, stdout=json.dumps(responses), context={"request": "hostname"})
    )
    assert (seen.outcome, seen.addresses) == (Outcome.RESOLVED, address)
    assert seen.detail.startswith("resolved; dialling it: ")


def test_a_question_decides_who_reads_an_answer() -> None:
    """A name that resolved to nobody was found; as a connection it was refused, and no error is an answer."""
    refused = raw(
        "dial", status=200, stdout='{"errors":["dial tcp 10.0.0.1:80: connection refused"]}'
    )
    assert read_answer(refused, Question.RESOLVE).outcome is Outcome.RESOLVED
    assert read_answer(refused, Question.REACH).outcome is Outcome.REFUSED
    assert positive(refused, Question.RESOLVE)
    assert not positive(refused, Question.REACH)
    answered = raw(
        "dial", status=200, stdout='{"responses":["server-1"]}', context={"request": "hostname"}
    )
    assert positive(answered, Question.REACH)
    broken = raw("dial", status=200, stdout=answered.stdout, context=answered.context, error="cut")
    assert not positive(broken, Question.REACH)


def test_details_fit_a_line_of_a_report() -> None:
    """As many characters as fit stay; of more the middle is cut, and its sign counts."""
    assert one_line("x" * 300) == "x" * 300
    assert one_line(f"{'a' * 150}{'b' * 151}") == f"{'a' * 149}…{'b' * 150}"
    assert one_line(" a\n b\t") == "a b"


def test_an_answer_without_its_question_is_an_answer() -> None:
    """A record that lost its command tells nothing of UDP."""
    answer = raw("dial", command=(), status=200, stdout='{"responses":["server-1"]}')
    assert read_raw(answer).outcome is Outcome.CONNECTED


def test_what_another_version_recorded_is_told_with_what_broke() -> None:
    """A record that lacks what its parser needs ends no run: it says nothing, and why."""
    then = {"seconds": 3.0, "gone": True, "grace": 30}
    read = attempt({"status": READY, "then": then}, then="end")
    assert read.outcome is Outcome.PROBE_FAILED
    assert read.detail == (
        "an answer in a form that start does not give: "
        "ValueError(\"could not convert string to float: ''\")"
    )


def test_a_code_that_says_all_is_not_overruled_by_its_text() -> None:
    """Only where a code covers several events the text tells them apart."""
    text = "curl: (28) Connection timed out after: Connection refused before"
    assert read_raw(raw("curl", exit_code=28, stderr=text)).outcome is Outcome.TIMED_OUT
    assert read_raw(raw("curl", exit_code=6, stderr=text)).outcome is Outcome.NXDOMAIN


def test_an_answer_from_outside_is_a_connection() -> None:
    """The external vantage point speaks HTTP, so that whoever answers was connected to."""
    answer = raw("http", status=200, stdout="server-1", context={"request": "hostname"})
    assert read_raw(answer).outcome is Outcome.CONNECTED


def test_what_was_tested_decides_how_an_answer_is_read() -> None:
    """An address may be a server's name, and the answer of a health check port has to tell of backends."""
    text = '{"responses":["10.244.3.2:80"]}'
    named = read_raw(raw("dial", status=200, stdout=text, context={"request": "hostname"}))
    assert (named.backend, named.server_saw) == ("10.244.3.2:80", None)
    seen = read_raw(raw("dial", status=200, stdout=text, context={"request": "clientip"}))
    assert (seen.backend, seen.server_saw, seen.source_port) == (None, "10.244.3.2", 80)
    shaped = read_raw(raw("dial", status=200, stdout=text))
    assert (shaped.backend, shaped.server_saw) == (None, "10.244.3.2")
    for endpoints, outcome in ((1, Outcome.HEALTHY), (0, Outcome.UNHEALTHY)):
        body = json.dumps({"localEndpoints": endpoints, "serviceProxyHealthy": True})
        answer = raw("curl", exit_code=0, stdout=body, context={"request": "health"})
        assert read_raw(answer).outcome is outcome


def test_over_udp_an_answer_is_a_reply() -> None:
    """The last word of the command says how the probe was told to dial."""
    words = ("curl", "-s", "http://10.1.1.1:8080/dial?host=a&protocol=udp&tries=1")
    answer = raw("dial", command=words, exit_code=0, stdout='{"responses":["server-1"]}')
    assert read_raw(answer).outcome is Outcome.REPLIED
    plain = raw(
        "dial",
        command=(*words[:2], "http://a/dial?host=b&protocol=udps"),
        exit_code=0,
        stdout=answer.stdout,
    )
    assert read_raw(plain).outcome is Outcome.CONNECTED
