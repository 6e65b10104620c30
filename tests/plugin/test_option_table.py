"""The options that ``nettests run`` and plain pytest share."""

from nettests.model.words import FailOn
from nettests.plugin.option_table import NAMED


def test_each_reason_to_fail_is_a_choice() -> None:
    """``--fail-on`` takes the words that a run understands."""
    assert set(NAMED["--fail-on"].choices) == {word.value for word in FailOn}
