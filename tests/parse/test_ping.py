"""``ping`` of three programs, judged by reply lines."""

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw

IPUTILS = """PING 10.244.2.5 (10.244.2.5) 56(84) bytes of data.
64 bytes from 10.244.2.5: icmp_seq=1 ttl=62 time=0.512 ms
64 bytes from 10.244.2.5: icmp_seq=2 ttl=62 time=0.401 ms

--- 10.244.2.5 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
rtt min/avg/max/mdev = 0.401/0.456/0.512/0.055 ms
"""
IPUTILS_LOST = """PING 10.244.2.5 (10.244.2.5) 56(84) bytes of data.

--- 10.244.2.5 ping statistics ---
3 packets transmitted, 0 received, 100% packet loss, time 2042ms
"""
IPUTILS_UNREACHABLE = """PING 10.244.2.5 (10.244.2.5) 56(84) bytes of data.
From 10.244.1.1 icmp_seq=1 Destination Host Unreachable

--- 10.244.2.5 ping statistics ---
1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms
"""
BUSYBOX = """PING 10.244.2.5 (10.244.2.5): 56 data bytes
64 bytes from 10.244.2.5: seq=0 ttl=62 time=0.120 ms

--- 10.244.2.5 ping statistics ---
1 packets transmitted, 1 packets received, 0% packet loss
"""
WINDOWS = """
Pinging 10.244.2.5 with 32 bytes of data:
Reply from 10.244.2.5: bytes=32 time<1ms TTL=126
Request timed out.

Ping statistics for 10.244.2.5:
    Packets: Sent = 2, Received = 1, Lost = 1 (50% loss),
"""
WINDOWS_GERMAN = """
Ping wird ausgeführt für 10.244.2.5 mit 32 Bytes Daten:
Antwort von 10.244.2.5: Bytes=32 Zeit=1ms TTL=126

Ping-Statistik für 10.244.2.5:
    Pakete: Gesendet = 1, Empfangen = 1, Verloren = 0
    (0% Verlust),
"""
WINDOWS_LOST = """
Pinging 10.244.2.5 with 32 bytes of data:
Request timed out.

Ping statistics for 10.244.2.5:
    Packets: Sent = 1, Received = 0, Lost = 1 (100% loss),
"""
WINDOWS_UNREACHABLE = """
Pinging 10.244.2.5 with 32 bytes of data:
Reply from 172.30.0.13: Destination host unreachable.

Ping statistics for 10.244.2.5:
    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),
"""
WINDOWS_TOO_LARGE = """
Pinging 10.244.2.5 with 1423 bytes of data:
Packet needs to be fragmented but DF set.

Ping statistics for 10.244.2.5:
    Packets: Sent = 1, Received = 0, Lost = 1 (100% loss),
"""
IPUTILS_TOO_LARGE = """PING 10.244.2.5 (10.244.2.5) 1472(1500) bytes of data.
From 10.244.1.1 icmp_seq=1 Frag needed and DF set (mtu = 1450)

--- 10.244.2.5 ping statistics ---
1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms
"""
WINDOWS_NO_NAME = (
    "Ping request could not find host nosuch.demo. Please check the name and try again.\n"
)


@pytest.mark.parametrize(
    ("client_os", "stdout", "code", "outcome"),
    [
        ("linux", IPUTILS, 0, Outcome.REPLIED),
        ("linux", IPUTILS_LOST, 1, Outcome.TIMED_OUT),
        ("linux", IPUTILS_UNREACHABLE, 1, Outcome.UNREACHABLE),
        ("linux", BUSYBOX, 0, Outcome.REPLIED),
        ("windows", WINDOWS, 0, Outcome.REPLIED),
        ("windows", WINDOWS_GERMAN, 0, Outcome.REPLIED),
        ("windows", WINDOWS_LOST, 1, Outcome.TIMED_OUT),
        ("windows", WINDOWS_UNREACHABLE, 0, Outcome.UNREACHABLE),
        ("windows", WINDOWS_NO_NAME, 1, Outcome.NXDOMAIN),
        ("windows", "PING: transmit failed. General failure. \n", 1, Outcome.UNREACHABLE),
        ("windows", WINDOWS_TOO_LARGE, 1, Outcome.UNREACHABLE),
        ("linux", IPUTILS_TOO_LARGE, 1, Outcome.UNREACHABLE),
        ("linux", "", 1, Outcome.PROBE_FAILED),
        ("linux", IPUTILS, None, Outcome.PROBE_FAILED),
    ],
)
def test_outputs(client_os: str, stdout: str, code: int | None, outcome: Outcome) -> None:
    """Replies are lines of the target itself; summaries and exit codes are not believed."""
    command = ("ping", "10.244.2.5")
    answer = raw("ping", client_os=client_os, command=command, stdout=stdout, exit_code=code)
    assert read_raw(answer).outcome is outcome


@pytest.mark.parametrize(
    ("stderr", "outcome"),
    [
        ("ping: nosuch.demo: Name or service not known", Outcome.NXDOMAIN),
        ("ping: bad address 'nosuch.demo'", Outcome.NXDOMAIN),
        ("ping: a.b: Temporary failure in name resolution", Outcome.TIMED_OUT),
        ("ping: connect: Network is unreachable", Outcome.UNREACHABLE),
        ("ping: connect: Invalid argument", Outcome.UNREACHABLE),
        ("ping: sendto: Invalid argument", Outcome.UNREACHABLE),
        ("ping: local error: message too long, mtu=1450", Outcome.UNREACHABLE),
        ("ping: sendmsg: Message too long", Outcome.UNREACHABLE),
        ("ping: socket: Operation not permitted", Outcome.PROBE_FAILED),
        ("ping: sendmsg: Operation not permitted", Outcome.REFUSED),
        ("ping: sendto: Operation not permitted", Outcome.REFUSED),
        ("ping: write error: Operation not permitted", Outcome.REFUSED),
    ],
)
def test_errors(stderr: str, outcome: Outcome) -> None:
    """Errors before the first echo are told apart; a missing permission is the probe's failure, a netfilter rule of the node is none."""
    answer = raw("ping", command=("ping", "a.b"), stderr=stderr, exit_code=2)
    assert read_raw(answer).outcome is outcome


@pytest.mark.parametrize(("client_os", "stdout"), [("linux", IPUTILS), ("windows", WINDOWS)])
def test_somebody_elses_reply_is_no_reply(client_os: str, stdout: str) -> None:
    """Replies that come from another address than the one that was pinged do not count."""
    answer = raw(
        "ping",
        client_os=client_os,
        command=("ping", "10.244.2.6"),
        stdout=stdout,
        exit_code=0,
    )
    assert read_raw(answer).outcome is not Outcome.REPLIED


@pytest.mark.parametrize(
    ("client_os", "line"),
    [
        ("windows", "Reply from fd00:10:244:4::3: time<1ms "),
        ("windows", "Antwort von fd00:10:244:4::3: Zeit=2ms "),
        ("linux", "64 bytes from fd00:10:244:4::3: icmp_seq=1 ttl=62 time=0.512 ms"),
    ],
)
def test_replies_over_ipv6_are_replies(client_os: str, line: str) -> None:
    """Windows tells neither size nor hop limit of them: address and time are enough, of the target alone."""
    words = ("ping", "fd00:10:244:4:0::3")
    made = raw("ping", client_os=client_os, stdout=f"\n{line}\n", exit_code=0, command=words)
    assert read_raw(made).outcome is Outcome.REPLIED
    other = raw(
        "ping",
        client_os=client_os,
        stdout=f"\n{line}\n1 packets transmitted",
        exit_code=0,
        command=("ping", "fd00::99"),
    )
    assert read_raw(other).outcome is not Outcome.REPLIED


@pytest.mark.parametrize(
    ("client_os", "stdout", "code", "said"),
    [
        ("linux", IPUTILS, 0, "2 echo replies"),
        ("linux", IPUTILS_LOST, 1, "3 packets transmitted, 0 received, 100% packet loss, time 2042ms"),
        ("linux", IPUTILS_UNREACHABLE, 1, "From 10.244.1.1 icmp_seq=1 Destination Host Unreachable"),
        ("windows", WINDOWS_LOST, 1, "Request timed out."),
        ("windows", WINDOWS_NO_NAME, 1, WINDOWS_NO_NAME.strip()),
        ("linux", " odd\n", 7, "ping ended with code 7: odd"),
        ("linux", "any", None, "ping's exit code was lost: any"),
    ],
)  # fmt: skip
def test_the_line_that_says_most_is_told(
    client_os: str, stdout: str, code: int | None, said: str
) -> None:
    """An error before a summary; all of it where nothing of it is known."""
    answer = raw("ping", client_os=client_os, stdout=stdout, exit_code=code)
    assert read_raw(answer).detail == said


@pytest.mark.parametrize("command", [("ping", "-c", "2", "server.test"), ()])
def test_replies_to_a_name_may_come_from_any_address(command: tuple[str, ...]) -> None:
    """Whom a name means only its resolver knows."""
    answer = raw("ping", command=command, stdout=IPUTILS, exit_code=0)
    assert read_raw(answer).outcome is Outcome.REPLIED


def test_the_target_is_the_last_word_of_the_command() -> None:
    """Options before it may look like addresses: the source that is told to be used does."""
    for words, outcome in (
        (("ping", "-I", "10.244.1.2", "10.244.2.5"), Outcome.REPLIED),
        (("ping", "-I", "10.244.2.5", "10.244.1.2"), Outcome.TIMED_OUT),
        (("ping", "10.244.2.5", "-n", "10.244.1.2"), Outcome.TIMED_OUT),
    ):
        answer = raw("ping", command=words, stdout=IPUTILS, exit_code=0)
        assert read_raw(answer).outcome is outcome


@pytest.mark.parametrize("why", ["Address unreachable", "Administratively prohibited", "No route"])
def test_over_ipv6_a_node_that_says_why_is_no_silence(why: str) -> None:
    """iputils words ICMPv6's destination unreachable in its own way."""
    said = (
        f"From fd00:172:30::11: icmp_seq=1 Destination unreachable: {why}\n\n"
        "--- fd00:10:244:2::5 ping statistics ---\n"
        "3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2042ms\n"
    )
    answer = raw("ping", stdout=said, exit_code=1, command=("ping", "fd00:10:244:2::5"))
    assert read_raw(answer).outcome is Outcome.UNREACHABLE
