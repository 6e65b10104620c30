"""JSON of others: read within limits of size and depth, and without numbers that are none."""

import json
from typing import Any

import pytest

from nettests.model import limits
from nettests.model.json_text import read_json
from nettests.model.limits import TooMuchError


def nested(levels: int, *, objects: bool = False) -> str:
    """Return so many levels of arrays, or of objects."""
    first, last = ('{"a":', "}") if objects else ("[", "]")
    return first * levels + "1" + last * levels


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("objects", [False, True])
def test_depth_is_bounded(*, objects: bool, as_bytes: bool) -> None:
    """As deep as the limit is read, and one level more is not, however it is nested."""

    def read(levels: int) -> Any:
        text = nested(levels, objects=objects)
        return read_json(text.encode() if as_bytes else text)

    assert json.dumps(read(limits.DEPTH), separators=(",", ":")) == nested(
        limits.DEPTH, objects=objects
    )
    with pytest.raises(TooMuchError, match=f"more than {limits.DEPTH} levels deep"):
        read(limits.DEPTH + 1)


def test_depth_beyond_what_python_reads_is_the_same_error() -> None:
    """A hundred thousand brackets end no process."""
    with pytest.raises(TooMuchError, match="levels deep"):
        read_json("[" * 100_000)


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    """A list of empty lists is two levels."""
    wide = json.dumps([[] for _ in range(limits.DEPTH * 3)])
    assert read_json(wide) == [[] for _ in range(limits.DEPTH * 3)]
    assert read_json(json.dumps("[" * (limits.DEPTH + 1))) == "[" * (limits.DEPTH + 1)


def test_size_is_bounded() -> None:
    """A text of the limit is read, one more character is not."""
    assert read_json('"ab"', most=4) == "ab"
    with pytest.raises(TooMuchError, match="larger than"):
        read_json('"abc"', most=4)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "[-1e999]"])
def test_what_is_no_number_is_no_json(text: str) -> None:
    """Neither words that Python knows nor numbers beyond its own."""
    with pytest.raises(ValueError, match="is not a number"):
        read_json(text)


def test_numbers_are_read() -> None:
    """Large and small ones, as floats."""
    assert read_json("[1.5, 1e300, -0.0]") == [1.5, 1e300, 0.0]
