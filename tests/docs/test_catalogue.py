"""The reference page of facts and flows is what suites and manifests say today."""

import re

from nettests.expect import ReasonKind
from nettests.session.survey import survey
from scripts.reference_pages import render_catalogue
from tests.docs.documents import rows, text_of

PAGE = "docs/reference/catalogue.md"


def test_the_catalogue_page_is_current() -> None:
    """Whoever changes a flow, a limitation or a fact makes the page again.

    The command is: python -m scripts.reference_pages
    """
    made = survey()
    assert text_of(PAGE) == render_catalogue(made.catalogue, made.coverages, made.flows)


def test_every_kind_of_reason_is_explained() -> None:
    """The page has a row for each kind, once."""
    kinds = [cells[0].strip("`") for cells in rows(PAGE, "| kind | meaning |")]
    assert kinds == sorted(kind.value for kind in ReasonKind)


def test_every_fact_and_flow_has_a_row() -> None:
    """Nothing is left out of the tables."""
    made, text = survey(), text_of(PAGE)
    for fact in made.catalogue.facts:
        assert text.count(f"\n| `{fact}` |") == 1, fact
    for flow in made.flows:
        assert text.count(f'\n| <a id="{flow.name}"></a>`{flow.name}/') == 1, flow.name


def test_links_of_facts_lead_to_flows() -> None:
    """Whoever reads a fact finds the ids of its checks."""
    text = text_of(PAGE)
    linked = set(re.findall(r"\(#([\w-]+)\)", text))
    assert linked
    assert linked <= set(re.findall(r'<a id="([\w-]+)"></a>', text))
