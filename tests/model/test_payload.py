"""What is sent where its size matters, and how it is written down."""

from hypothesis import given
from hypothesis import strategies as st

from nettests.model.payload import expanded, filler, folded, written


@given(st.integers(0, 5000))
def test_a_payload_has_the_size_that_its_name_says(size: int) -> None:
    """As many characters are sent as were wanted, each of one byte, in lower case and without blanks.

    agnhost's UDP server folds what it echoes, and takes blanks off its end.
    """
    assert len(filler(size).encode()) == size
    assert filler(size) == filler(size).lower().strip()


def test_no_two_words_of_a_payload_are_alike() -> None:
    """What is lost, doubled or moved changes the text, since each word is its own offset."""
    text = filler(2**16)
    words = [text[start : start + 8] for start in range(0, 2**16, 8)]
    assert len(set(words)) == len(words)


@given(st.integers(8, 3000))
def test_what_is_written_down_is_what_was_sent(size: int) -> None:
    """A request is expanded before it is sent, and an answer folded: each undoes the other."""
    request = f"/dial?request=echo+{written(size)}&tries=1"
    assert folded(expanded(request, size), size) == request
    assert len(expanded(request, size)) == len(request) - len(written(size)) + size
