"""Long texts: looked at in windows, so that the work grows with their length and no line is too long."""

import re
from itertools import pairwise

import pytest

from nettests.redaction import REDACTED, shapes, spans
from nettests.redaction.shapes import Shape
from nettests.redaction.spans import OVERLAP, STEP, redact

REPEATED = re.compile(r"(?<!\\)(?:[*+](?![+?\]])|\{\d*,\})")
"""A repetition without a bound: in these patterns no such sign stands for itself but in brackets or escaped."""


class Counted:
    """A pattern that counts the characters it was given."""

    def __init__(self) -> None:
        self.given: list[tuple[int, int]] = []

    def finditer(self, _text: str, start: int, end: int) -> list[re.Match[str]]:
        """Find nothing in a window."""
        self.given.append((start, end))
        return []


def test_no_shape_gets_more_than_a_window_at_once_and_hardly_any_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line of a megabyte is given to each pattern in windows; twice the text is twice the work."""
    work = []
    for length in (500_000, 1_000_000):
        counted = Counted()
        shape = Shape(name="counted", pattern=counted, hints=("x",))  # type: ignore[arg-type]
        monkeypatch.setattr(spans, "_shapes", lambda one=shape: ((one,), frozenset("x")))
        redact("x" * length)
        assert max(end - start for start, end in counted.given) <= STEP + OVERLAP
        for before, after in pairwise(counted.given):
            assert after[0] <= before[1]
        assert counted.given[-1][1] == length
        work.append(sum(end - start for start, end in counted.given))
    assert work[1] == pytest.approx(2 * work[0], rel=0.05)
    assert work[1] <= 1_000_000 * (1 + OVERLAP / STEP) + STEP


def test_every_repetition_of_our_patterns_is_bounded() -> None:
    """A pattern may take so many characters and no more: within a window the work is bounded too."""
    for shape in shapes.SHAPES:
        pattern = re.sub(
            r"\[(?:\\.|[^\]\\])+\]", "C", shape.pattern.pattern.replace(r"\[redacted\]", "")
        )  # without classes
        assert not REPEATED.findall(pattern), shape.name


@pytest.mark.parametrize(
    "offset", [*range(STEP - 60, STEP + 3, 3), *range(STEP + OVERLAP - 40, STEP + OVERLAP + 3, 3)]
)
def test_a_secret_between_two_windows_is_found(offset: int) -> None:
    """Wherever a window ends, in its name or in the middle of it."""
    text = "x " * (offset // 2) + "password=hunter2hunter2hunter2hunter2;" + " y" * STEP
    told = redact(text)
    assert "hunter2" not in told
    assert told == text.replace("hunter2" * 4, REDACTED)


def test_a_secret_longer_than_a_window_goes_to_its_end() -> None:
    """A token of 50 kB is hidden whole, and what follows it stays."""
    told = redact("token=" + "Ab1" * 17_000 + " next=word")
    assert told == f"token={REDACTED} next=word"


@pytest.mark.parametrize(
    "piece",
    [
        "a-",
        "passwordx",
        "token",
        "eyJ",
        "://a:",
        "-----BEGIN A-----",
        "-u",
        "x-",
        "\\",
        "name",
        "\n ",
        "a.",
        '"',
        "'",
        "password=a ",
        "LS0tLS1CRUdJTi",
    ],
)
def test_a_long_line_of_pieces_of_secrets_ends(piece: str) -> None:
    """60 kB in one line, of what patterns begin with: it took minutes when patterns had no bounds."""
    redact(piece * (60_000 // len(piece)))
