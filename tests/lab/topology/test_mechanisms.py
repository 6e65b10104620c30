"""Switches of the lab's mechanisms: how they are spelled, and that they go before thresholds."""

from dataclasses import asdict, fields, replace

import pytest

from nettests.lab.errors import LabError
from nettests.lab.network.thresholds import SwitchFeatures, switch_features
from nettests.lab.topology.mechanisms import MECHANISMS, read
from tests.lab.network.clusters import WIN_A, profile


def test_switches_are_read_by_name_and_value() -> None:
    """On, off and numbers; the last of two wins."""
    assert read(["dsr=off", "dsr=on", "backend-limit=2"]) == (("backend-limit", 2), ("dsr", 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drs=on", 'Did you mean "dsr"'),
        ("zzz=on", "nettests lab mechanisms"),
        ("dsr=1", "takes on or off"),
        ("dsr", "takes on or off"),
        ("backend-limit=on", "takes a number"),
    ],
)
def test_a_switch_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    """The error names the nearest name, or the values."""
    with pytest.raises(LabError) as refused:
        read([text])
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "name",
    [
        one.name
        for one in MECHANISMS
        if one.name.replace("-", "_") in {field.name for field in fields(SwitchFeatures)}
    ],
)
def test_a_switch_goes_before_the_threshold(name: str) -> None:
    """Each switch of the data plane changes that feature of a node, and no other."""
    usual = profile()
    node = usual.node(WIN_A)
    before = switch_features(node, usual)
    field = name.replace("-", "_")
    other = 7 if name == "backend-limit" else not getattr(before, field)
    switched = replace(usual, mechanisms=((name, int(other)),))
    assert asdict(switch_features(node, switched)) == {**asdict(before), field: other}
