"""The reference page of the seed documents is what manifests, catalogue and suites say today."""

import re
from collections import Counter

from nettests.model.visible import literal
from nettests.session.survey import survey
from scripts.reference_pages import render_seeds
from scripts.seeds import Shown, read_seeds, shown
from tests.docs.documents import rows, text_of

PAGE = "docs/reference/seeds.md"


def test_the_page_of_seed_documents_is_current() -> None:
    """Whoever changes a row, a fact or a flow that rows name makes the page again.

    The command is: python -m scripts.reference_pages
    """
    made = survey()
    assert text_of(PAGE) == render_seeds(read_seeds(), made.by_fact)


def test_every_word_for_what_is_shown_is_explained() -> None:
    """The page has a row for each, once, in the order of the counts."""
    words = [cells[0] for cells in rows(PAGE, "| shown | meaning |")]
    assert words == [word.value for word in Shown]


def test_the_counts_are_those_of_the_rows() -> None:
    """The last line of the first table adds all documents up."""
    head = f"| document | sentences | {' | '.join(Shown)} |"
    *documents, every = ([int(cell) for cell in cells[1:]] for cells in rows(PAGE, head))
    assert every == [sum(column) for column in zip(*documents, strict=True)]
    assert every[0] == sum(every[1:])
    # sample: "| Pods are scaled horizontally by load. | not about networks | fact `plat-hpa`<br>…"
    row = rf"(?m)^\| .*\. \| ({'|'.join(Shown)}) \| "
    told = Counter(re.findall(row, text_of(PAGE)))
    assert every[1:] == [told[word] for word in Shown]


def test_every_statement_has_a_row() -> None:
    """Nothing is left out of the tables."""
    made, text = survey(), text_of(PAGE)
    statements = [one for seed in read_seeds() for one in seed.statements]
    assert statements
    for one in statements:
        assert f"\n| {literal(one.says)} | {shown(one, made.by_fact)} | " in text, one.place


def test_links_of_rows_lead_to_flows() -> None:
    """Whoever reads a row finds the ids of its checks in the catalogue."""
    linked = set(re.findall(r"\(catalogue\.md#([\w-]+)\)", text_of(PAGE)))
    assert linked
    assert linked <= set(
        re.findall(r'<a id="([\w-]+)"></a>', text_of("docs/reference/catalogue.md"))
    )
