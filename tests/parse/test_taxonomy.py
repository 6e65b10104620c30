"""One table of error texts, per operating system of the client."""

import pytest

from nettests.model.words import OS, Outcome
from nettests.parse.taxonomy import TABLE, Row, Stage, classify, stage_of


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.stage}-{row.os}-{row.fragment[:25]}")
def test_every_sample_is_read_as_its_row_says(row: Row) -> None:
    """Each row's own sample, read on the row's system, gives the row's outcome."""
    systems = [row.os] if row.os else list(OS)
    for system in systems:
        assert stage_of(row.sample) is row.stage
        assert classify(row.sample, system) is row.outcome


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row.os is not None], ids=lambda r: r.fragment
)
def test_a_text_of_one_system_means_nothing_on_the_other(row: Row) -> None:
    """A Windows text from a Linux client, or the other way round, is not understood."""
    other = OS.LINUX if row.os is OS.WINDOWS else OS.WINDOWS
    assert classify(row.sample, other) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "address 99999: invalid port",
        "protocol not supported",
        # The probe's own ports are used up, or excluded: nothing was sent.
        "dial tcp 10.244.2.5:80: connect: bad file descriptor",
        "dial tcp 10.244.2.5:80: bind: An attempt was made to access a socket in a way forbidden by its access permissions.",
        # Somebody else listens there: nothing was dialled.
        "listen tcp :80: bind: Only one usage of each socket address (protocol/network address/port) is normally permitted.",
        "listen tcp :80: bind: winapi error #10048",
        "dial tcp 10.244.2.5:80: connectex: winapi error #10093",
        # What the system says in its own language.
        "dial tcp 10.244.2.5:80: connectex: Es konnte keine Verbindung hergestellt werden, da der Zielcomputer die Verbindung verweigerte.",
    ],
)
def test_what_is_not_in_the_table_is_not_guessed(text: str) -> None:
    """Texts about the question itself, and empty ones, have no outcome."""
    assert classify(text, OS.LINUX) is None
    assert classify(text, OS.WINDOWS) is None


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("dial tcp 10.244.2.5:9999: connectex: winapi error #10061", Outcome.REFUSED),
        ("dial tcp 10.244.2.5:9999: connectex: winapi error #10060", Outcome.TIMED_OUT),
        ("dial tcp 10.244.2.5:9999: connectex: winapi error #10065", Outcome.UNREACHABLE),
        ("dial tcp 10.244.2.5:9999: connectex: winapi error #10048", Outcome.NO_PORT),
        ("lookup nosuch.demo: getaddrinfow: winapi error #11001", Outcome.NXDOMAIN),
        ("lookup a.b: getaddrinfow: winapi error #11002", Outcome.TIMED_OUT),
    ],
)
def test_a_number_means_what_its_text_means(text: str, outcome: Outcome) -> None:
    """Go prints numbers where Windows has no text for an error, on Windows alone."""
    assert classify(text, OS.WINDOWS) is outcome
    assert classify(text, OS.LINUX) is None


def test_a_refusal_by_the_name_server_is_not_one_by_the_target() -> None:
    """A lookup's error is about the name: the stage is read from the text."""
    text = "lookup no.such.name on 172.30.0.1:53: read udp 1.2.3.4:5->172.30.0.1:53: i/o timeout"
    assert stage_of(text) is Stage.NAME
    assert classify(text, OS.LINUX) is Outcome.TIMED_OUT


def test_every_row_is_needed() -> None:
    """Without its own row a sample would not be understood, so no row could go without notice.

    The HTTP client's two texts for one event stand in one line at times; each occurs alone too.
    """
    twins = {"context deadline exceeded", "Client.Timeout exceeded"}
    for row in TABLE:
        others = {
            one.fragment
            for one in TABLE
            if one is not row
            and one.stage is row.stage
            and one.os in {None, row.os or OS.LINUX}
            and one.fragment.lower() in row.sample.lower()
        }
        assert not others - twins, row.fragment
