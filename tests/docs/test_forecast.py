"""The reference of forecasts is what the schema and the code say."""

import json
import re
from importlib.resources import files

from nettests.forecast.forecast import Coming
from nettests.forecast.forecast_text import KINDS
from nettests.forecast.fulfilment import Attribution
from nettests.forecast.keys import KEYS
from tests.docs.documents import rows

PAGE = "docs/reference/forecast.md"
GUIDE = "docs/guides/before-an-upgrade.md"


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_key_has_a_row() -> None:
    """In the order in which the narrower wins."""
    told = [spans(cells[0])[0] for cells in rows(PAGE, "| key | fact | value |")]
    assert told == list(KEYS)


def test_every_part_of_the_document_has_a_row() -> None:
    """And no other has."""
    schema = json.loads(
        files("nettests.forecast").joinpath("forecast.schema.json").read_text("utf-8")
    )
    told = [name for cells in rows(PAGE, "| part | meaning |") for name in spans(cells[0])]
    assert sorted(told) == sorted(schema["properties"])


def test_every_kind_of_change_has_a_row() -> None:
    """By the word of the document."""
    told = {spans(cells[0])[0] for cells in rows(PAGE, "| kind | was | is |")}
    assert told == {kind.value for kind in Coming}


def test_every_section_has_a_row_in_the_guide() -> None:
    """By the title that is printed."""
    told = {
        title for cells in rows(GUIDE, "| section | meaning |") for title in cells[0].split(", ")
    }
    others = {"Cannot be forecast", "Added to the plan", "No longer in the plan", "Changed facts"}
    assert told == {title for title, _ in KINDS.values()} | others


def test_every_account_of_a_change_has_a_row() -> None:
    """Predicted, explained, unexplained, not judged."""
    told = {name for cells in rows(GUIDE, "| each change is | when |") for name in spans(cells[0])}
    assert told == {one.value for one in Attribution}
