"""What to do about a configuration that deviates."""

from nettests.judge.remedies import REMEDIES
from nettests.rules import RULES


def test_every_rule_has_its_remedy_and_no_other_exists() -> None:
    """A check that deviates says what to do next, in the terms of its own rule."""
    assert set(REMEDIES) == set(RULES)
