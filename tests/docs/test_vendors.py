"""The guide for vendors names every part of the document and every gap, and no other."""

import json
import re
from importlib.resources import files

from nettests.conformance.conformance_report import Gap, Result
from tests.docs.documents import rows

GUIDE = "docs/guides/vendors.md"


def names(header: str) -> list[str]:
    """Return the words in the first column of a table."""
    return [name for cells in rows(GUIDE, header) for name in re.findall(r"`([^`]+)`", cells[0])]


def test_every_part_of_the_document_has_a_row() -> None:
    """As its schema says."""
    schema = json.loads(
        files("nettests.conformance").joinpath("conformance.schema.json").read_text("utf-8")
    )
    assert sorted(names("| part | meaning |")) == sorted(schema["properties"])


def test_every_gap_and_every_result_has_a_row() -> None:
    """By the word of the document."""
    assert names("| why | what happened |") == [one.value for one in Gap]
    assert names("| result | meaning | exit code |") == [one.value for one in Result]
