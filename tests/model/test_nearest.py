"""What is said of a word that is not known."""

import pytest

from nettests.model.nearest import nearest

KNOWN = ["pod-to-pod-ip", "pod-to-pod-name", "icmp-egress"]


@pytest.mark.parametrize(
    ("word", "more", "hint"),
    [
        ("pod-to-pod-op", {}, "did you mean 'pod-to-pod-ip'?"),
        ("pod-to-pod-op", {"most": 3}, "did you mean 'pod-to-pod-ip' or 'pod-to-pod-name'?"),
        ("zzz", {}, "valid: pod-to-pod-ip, pod-to-pod-name, icmp-egress"),
        ("zzz", {"what": "flows"}, "flows: pod-to-pod-ip, pod-to-pod-name, icmp-egress"),
        ("zzz", {"otherwise": "list them"}, "list them"),
    ],
)
def test_the_nearest_words_are_named_or_all_of_them(
    word: str, more: dict[str, object], hint: str
) -> None:
    """A slip gets the words that were meant, what is far from all of them the list or another step."""
    assert nearest(word, KNOWN, **more) == hint  # type: ignore[arg-type]
