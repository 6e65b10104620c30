"""``agnhost connect``: every recorded run, and the texts that only Windows prints."""

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw, recorded_connects

EXPECTED = {
    "": None,
    "REFUSED": Outcome.REFUSED,
    "TIMEOUT": Outcome.TIMED_OUT,
    "OTHER: dial": Outcome.UNREACHABLE,
}


def outcome_of(stderr: str, exit_code: int, command: str) -> Outcome:
    """Say by eye, from the recorded text, what a run of ``connect`` means."""
    if exit_code == 0:
        return Outcome.REPLIED if "--protocol=udp" in command else Outcome.CONNECTED
    if "no such host" in stderr:
        return Outcome.NXDOMAIN
    for beginning, outcome in EXPECTED.items():
        if outcome and stderr.startswith(beginning):
            return outcome
    if stderr.startswith("DNS: lookup"):
        return Outcome.TIMED_OUT if "i/o timeout" in stderr else Outcome.REFUSED
    return Outcome.PROBE_FAILED


def test_every_recorded_run_is_read() -> None:
    """All recorded runs of ``connect`` are read as their text says; wrong usage is a failed probe."""
    runs = recorded_connects()
    assert len(runs) > 25
    for command, answer in runs:
        expected = outcome_of(answer.stderr, answer.exit_code or 0, command)
        assert read_raw(answer).outcome is expected, (command, answer.stderr)


@pytest.mark.parametrize(
    ("stderr", "outcome"),
    [
        (
            (
                "OTHER: dial tcp 10.1.1.1:80: connectex: No connection could be made because the "
                "target machine actively refused it."
            ),
            Outcome.REFUSED,
        ),
        (
            (
                "UNKNOWN: read udp 10.1.1.2:5->10.1.1.1:81: wsarecv: An existing connection was "
                "forcibly closed by the remote host."
            ),
            Outcome.REFUSED,
        ),
        (
            (
                "OTHER: dial tcp 10.1.1.1:80: connectex: A socket operation was attempted to an "
                "unreachable host."
            ),
            Outcome.UNREACHABLE,
        ),
        ("TIMEOUT", Outcome.TIMED_OUT),
        ("DNS: lookup nosuch.demo: no such host", Outcome.NXDOMAIN),
        ("UNKNOWN: something new", Outcome.PROBE_FAILED),
    ],
)
def test_windows_texts(stderr: str, outcome: Outcome) -> None:
    """On Windows refusals hide behind OTHER and UNKNOWN; the text decides."""
    answer = raw("connect", client_os="windows", exit_code=1, stderr=stderr)
    assert read_raw(answer).outcome is outcome


def test_the_text_counts_before_the_exit_code() -> None:
    """An exec that reports success for a command that failed is not believed."""
    assert read_raw(raw("connect", exit_code=0, stderr="REFUSED\n")).outcome is Outcome.REFUSED


def test_a_lost_exit_code_is_no_success() -> None:
    """Silence without an exit code says nothing."""
    assert read_raw(raw("connect", exit_code=None)).outcome is Outcome.PROBE_FAILED
