"""The reference page of open questions is what the manifests say today."""

from nettests.model.words import Category
from nettests.session.survey import survey
from scripts.reference_pages import render_open_questions
from tests.docs.documents import text_of

PAGE = "docs/reference/open-questions.md"


def test_the_page_of_open_questions_is_current() -> None:
    """Whoever changes an entry makes the page again.

    The command is: python -m scripts.reference_pages
    """
    assert text_of(PAGE) == render_open_questions(survey().entries)


def test_every_open_entry_has_a_row_with_what_would_settle_it() -> None:
    """Nothing is left out, and nothing that is settled is in; of bugs the page says how they show."""
    lines = [line for line in text_of(PAGE).splitlines() if line.startswith("| `")]
    split = [line.replace("\\|", "").split("|") for line in lines]
    rows = {cells[1].strip(" `"): cells for cells in split}
    listed = {entry.id: entry for entry in survey().entries if entry.is_open}
    assert set(rows) == set(listed)
    for name, entry in listed.items():
        settled = -3  # before the sources and the end of the row
        assert rows[name][settled].strip(), name
        if entry.category is Category.BUG:
            assert "`" in rows[name][3], name
