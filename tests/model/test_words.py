"""What each word of a closed set says of itself: planning, commands and verdicts stand on it."""

import pytest

from nettests.model.payload import udp_headers
from nettests.model.words import Family, Outcome, Protocol, Question, VantageKind, Verdict


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ("retransmitted", {Protocol.TCP}),
        ("echoed", {Protocol.ICMP}),
        ("refused_by_icmp", {Protocol.UDP}),
    ],
)
def test_what_a_protocol_does(about: str, words: set[Protocol]) -> None:
    """Only TCP is sent again by its kernel; ping echoes; a closed UDP port tells by ICMP."""
    assert {one for one in Protocol if getattr(one, about)} == words


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ("has_path", set(Question) - {Question.ADMIT, Question.INSPECT, Question.START}),
        (
            "examined",
            {
                *(Question.ADMIT, Question.INSPECT, Question.START),
                *(Question.IDLE, Question.SCALE, Question.WITNESS, Question.DURING),
            },
        ),
        ("changes_services", {Question.CHURN, Question.DURING}),
        ("exhausts", {Question.FLOWS, Question.SCALE}),
        ("alone", {Question.FLOWS, Question.SCALE, Question.WITNESS}),
        ("tries_objects", {Question.ADMIT, Question.START}),
        ("timed", {Question.REACH, Question.PING, Question.RESOLVE, Question.DISTRIBUTE}),
    ],
)
def test_what_a_question_is(about: str, words: set[Question]) -> None:
    """Which questions send packets, take an examiner, hand over an object, have one answer each, and run alone."""
    assert {one for one in Question if getattr(one, about)} == words


def test_what_has_a_path_tries_no_object() -> None:
    """A question is about packets or about objects, never about both."""
    assert not [one for one in Question if one.has_path and one.tries_objects]


def test_which_vantages_are_pods_of_the_run() -> None:
    """The outside and the API server's client have no Pod that could go."""
    assert {one for one in VantageKind if one.has_pod} == {VantageKind.POD, VantageKind.NODE}


@pytest.mark.parametrize(
    ("family", "version", "headers"), [(Family.IPV4, 4, 20 + 8), (Family.IPV6, 6, 40 + 8)]
)
def test_what_a_family_takes_of_a_packet(family: Family, version: int, headers: int) -> None:
    """Its number in addresses, and the bytes of its header and UDP's."""
    assert (family.version, udp_headers(family)) == (version, headers)


def test_no_word_has_two_meanings() -> None:
    """Outcomes and verdicts stand beside each other in sentences, and are told apart."""
    assert not {one.value for one in Outcome} & {one.value for one in Verdict}
