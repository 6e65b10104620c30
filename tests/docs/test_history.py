"""The reference of histories is what the schema and the code say."""

import json
import re
from importlib.resources import files

from nettests.history import levels
from nettests.history.levels import State
from tests.docs.documents import rows

PAGE = "docs/reference/history.md"
SCHEMA = json.loads(files("nettests.history").joinpath("history.schema.json").read_text("utf-8"))


def named(heading: str) -> list[str]:
    """Return the names in the first column of a table."""
    return [name for cells in rows(PAGE, heading) for name in re.findall(r"`([^`]+)`", cells[0])]


def test_every_key_of_the_document_has_a_row() -> None:
    """And no other has: of the document, and of the history of one cluster."""
    assert sorted(named("| key | meaning |")) == sorted(SCHEMA["properties"])
    of_cluster = SCHEMA["$defs"]["cluster"]["properties"]
    assert sorted(named("| key of a cluster | meaning |")) == sorted(of_cluster)


def test_every_state_has_a_row() -> None:
    """In the words of the code."""
    assert named("| state | meaning |") == [state.value for state in State]


def test_every_bound_has_its_value() -> None:
    """A change is told from a swing by the numbers that the page names."""
    told = {
        re.sub("`", "", name): int(value)
        for name, value, _ in rows(PAGE, "| bound | value | what it is about |")
    }
    assert told == {"LAPSE": levels.LAPSE, "LUCKY": levels.LUCKY, "CHANGE": levels.CHANGE}
