"""No check of configuration passes where there is nothing to look at: one demand on all rules."""

import json

import pytest

from nettests.parse.rules import RULES, UnreadableError
from tests.parse.rules import found, log

NO_ITEMS = json.dumps({"items": []})
LISTS = frozenset({"nodes", "node-pods", "services", "endpoint-slices"})


def _empty(reading: str) -> str:
    if reading == "node":
        return json.dumps({"metadata": {"name": "win-1"}, "spec": {}, "status": {"nodeInfo": {}}})
    if reading == "kube-proxy-log":
        return log()
    return NO_ITEMS if reading.removesuffix("-after") in LISTS else ""


@pytest.mark.parametrize("rule", sorted(RULES))
def test_nothing_to_look_at_never_conforms(rule: str) -> None:
    """Empty lists, empty output: the rule says that it deviates, or that there is nothing."""
    readings = {reading: _empty(reading) for reading in RULES[rule].readings}
    try:
        finding = found(rule, readings, plugin="flannel", backend="vxlan")
    except (UnreadableError, KeyError, IndexError, TypeError, ValueError, AttributeError):
        return
    assert not finding.conforms, finding.detail
