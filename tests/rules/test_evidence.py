"""What a rule may look at: a reading that was not taken, or has an unknown form, is never an empty one."""

import pytest

from nettests.rules import Evidence, NothingThereError, UnreadableError, reduced
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.kubelet import CONTAINERD


def test_a_text_of_another_form_is_not_taken_for_an_empty_one() -> None:
    """What is left of it says so; a rule that looks for words in it would find none."""
    left = reduced(NETWORKS, "Get-HnsNetwork : The service is not running")
    told = Evidence(texts={NETWORKS.name: left})
    for read in (told.text, told.rows):
        with pytest.raises(UnreadableError, match="another form than is known") as raised:
            read(NETWORKS)
        assert not isinstance(raised.value, NothingThereError)


def test_a_reading_was_taken_whatever_came_of_it() -> None:
    """One that failed is another thing than one that was not needed."""
    told = Evidence(texts={NETWORKS.name: ""}, problems={CONTAINERD.name: "denied"})
    assert told.was_taken(NETWORKS)
    assert told.was_taken(CONTAINERD)
    assert not Evidence(texts={}).was_taken(NETWORKS)
