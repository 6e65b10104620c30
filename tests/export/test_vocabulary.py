"""Which words may leave: the project's own, as words or as whole names."""

import pytest

from nettests.export.names import Vocabulary
from tests.export.renaming import shipped

WORDS = Vocabulary.of(
    ["The kube-system Pods of a node: lastTransitionTime, transition last time", "ip address"]
)


@pytest.mark.parametrize(
    "token", ["node", "NODE", "Pods", "kube-system", "lastTransitionTime", "ipAddress", "node12"]
)
def test_known_words_are_known_in_each_writing(token: str) -> None:
    """Capitals, joined words and a number behind a word make no other word of it."""
    assert WORDS.knows(token)


@pytest.mark.parametrize(
    "token", ["billing", "system-kube", "node-pods", "nodeBilling", "node1234", "n", "Zürich"]
)
def test_what_is_made_of_known_parts_is_no_known_name(token: str) -> None:
    """Names of several parts are known as wholes alone: api-gateway is somebody's, though both are words."""
    assert not WORDS.knows(token)


def test_errors_of_systems_are_known() -> None:
    """What strerror and HTTP say is the same everywhere."""
    assert all(
        Vocabulary.of([]).is_word(word)
        for word in ["Connection", "refused", "Forbidden", "Gateway"]
    )


def test_words_of_the_package_hold_what_parsers_look_for() -> None:
    """A sample of each tool's texts is read in a bundle as in a run."""
    for word in (
        "NXDOMAIN",
        "actively",
        "forcibly",
        "Hairpin",
        "SourceVIP",
        "unreachable",
    ):
        assert shipped().is_word(word), word


def test_the_package_knows_no_names_of_the_lab() -> None:
    """The emulated clusters' own names are replaced as anybody's are."""
    assert not shipped().knows("lab-a")
    assert not shipped().knows("win2022-l2bridge-dsr")
