"""What a rule may look at: a reading that was not taken, or has an unknown form, is never an empty one."""

import pytest

from nettests.model.powershell import END
from nettests.rules import Evidence, NothingThereError, UnreadableError, reduced
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.kubelet import CONTAINERD


def test_a_text_of_another_form_is_not_taken_for_an_empty_one() -> None:
    """What is left of it says so; a rule that looks for words in it would find none."""
    left = reduced(NETWORKS, f"Get-HnsNetwork : The service is not running\n{END}")
    evidence = Evidence(texts={NETWORKS.name: left})
    with pytest.raises(UnreadableError, match="an unknown form") as raised:
        evidence.text(NETWORKS)
    assert not isinstance(raised.value, NothingThereError)


def test_an_output_without_its_end_was_cut_short() -> None:
    """Whatever stands in it, and if it is nothing at all."""
    for text in ("", "[]", '[{"Name":"nat"}]\r\n', '[{"Name":"[[end]]"}]', "[[end]]\r\nmore"):
        left = reduced(NETWORKS, text)
        with pytest.raises(UnreadableError, match="cut short"):
            Evidence(texts={NETWORKS.name: left}).text(NETWORKS)
    assert reduced(NETWORKS, "[]\r\n[[end]]\r\n") == "[]"


def test_a_reading_was_taken_whatever_came_of_it() -> None:
    """One that failed differs from one that was not needed."""
    told = Evidence(texts={NETWORKS.name: ""}, problems={CONTAINERD.name: "denied"})
    assert told.was_taken(NETWORKS)
    assert told.was_taken(CONTAINERD)
    assert not Evidence(texts={}).was_taken(NETWORKS)
