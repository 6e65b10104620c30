"""The reference of differences is what the schema and the code say."""

import json
import re
from importlib.resources import files

from nettests.compare import paces
from nettests.compare.changes import MIRROR, Explained, Kind
from nettests.model.verdict import ACCEPTED
from tests.docs.documents import rows, text_of

PAGE = "docs/reference/difference.md"
GUIDE = "docs/guides/comparing-runs.md"


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_key_of_the_document_has_a_row() -> None:
    """And no other has."""
    schema = json.loads(
        files("nettests.compare").joinpath("difference.schema.json").read_text("utf-8")
    )
    told = [name for cells in rows(PAGE, "| key | meaning |") for name in spans(cells[0])]
    assert sorted(told) == sorted(schema["properties"])


def test_every_kind_of_change_has_a_row_and_its_mirror() -> None:
    """Rows of mirrors say the same the other way round."""
    table = {spans(cells[0])[0]: cells[1:] for cells in rows(PAGE, "| kind | was | is |")}
    assert set(table) == {kind.value for kind in Kind}
    for one, other in MIRROR.items():
        assert table[one.value] == table[other.value][::-1]
    (line,) = [line for line in text_of(PAGE).splitlines() if line.startswith("Accepted are ")]
    assert set(spans(line)) == {verdict.value for verdict in ACCEPTED}


def test_every_bound_of_noise_has_its_value() -> None:
    """A median counts as changed by the numbers that the page names."""
    told = {
        spans(name)[0]: float(value)
        for name, value, _ in rows(PAGE, "| bound | value | what it is about |")
    }
    has = {
        name: value
        for name, value in vars(paces).items()
        if name.isupper() and isinstance(value, int | float)
    }
    assert told == has


def test_every_sentence_of_the_guide_is_one_that_is_said() -> None:
    """What the guide explains is what the code says."""
    said = files("nettests.compare").joinpath("changes.py").read_text("utf-8")
    table = rows(GUIDE, "| said | meaning |")
    assert len(table) == 5
    for sentence, _ in table:
        word, _, text = sentence.partition(": ")
        assert word in {each.value for each in Explained}
        assert f'"{text}"' in said
