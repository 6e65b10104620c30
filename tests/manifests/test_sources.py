"""What entries, facts and flows cite: sections that the pages have, and addresses that fit the documents' names."""

import re

import pytest

from nettests.model.expectation import Source
from nettests.session.survey import read_catalogue
from tests.manifests.headings import HEADINGS
from tests.manifests.shipped import entries, flows

CITED: dict[Source, str] = {
    **{source: fact.id for fact in read_catalogue().facts.values() for source in fact.sources},
    **{source: entry.id for entry in entries() for source in entry.sources},
    **{source: flow.name for flow in flows() for source in flow.sources},
}
"""Every source, with one that cites it."""


def page_of(source: Source) -> str:
    """Return the page's own title: without its publisher, and without releases."""
    # samples: "Kubernetes documentation 1.34, Networking on Windows",
    #          "Kubernetes documentation, Networking on Windows (releases 1.23 to 1.32)"
    _, _, title = source.document.partition(", ")
    return re.sub(r" \(releases? [\d.]+(?: to [\d.]+)?\)$", "", title)


def test_cited_sections_are_headings_of_their_pages() -> None:
    """A section that no page has sends its reader nowhere."""
    wrong = [
        f"{by}: {source.document}, {source.section}"
        for source, by in CITED.items()
        if page_of(source) in HEADINGS and (source.section or "") not in HEADINGS[page_of(source)]
    ]
    assert wrong == []


def test_every_kept_page_is_cited() -> None:
    """A page that nobody cites any more needs no headings."""
    assert HEADINGS.keys() <= {page_of(source) for source in CITED}


def test_a_document_of_a_release_has_that_releases_address() -> None:
    """The page of another release may say something else."""
    wrong = []
    for source, by in CITED.items():
        # samples: "Kubernetes documentation 1.34, …", "… at release-1.36"; ".../release-1.34/content/…"
        named = re.search(r"documentation (1\.\d+),|at release-(1\.\d+)$", source.document)
        linked = re.search(r"/release-(1\.\d+)(?:/|$)", source.address or "")
        release = (named[1] or named[2]) if named else None
        if named and linked and release != linked[1]:
            wrong.append(f"{by}: {source.document}: {source.address}")
        if linked and not named:
            wrong.append(f"{by}: {source.document} names no release: {source.address}")
    assert wrong == []


@pytest.mark.parametrize(("words", "path"), [("issue", "issues"), ("pull request", "pull")])
def test_an_issue_has_its_own_address(words: str, path: str) -> None:
    """Repository and number of the address are those of the name."""
    found = 0
    for source, by in CITED.items():
        named = re.fullmatch(rf"([\w.-]+/[\w.-]+) {words} (\d+)", source.document)
        if named:
            found += 1
            assert source.address == f"https://github.com/{named[1]}/{path}/{named[2]}", by
    assert found >= 3


def test_a_document_has_one_address() -> None:
    """The same name always stands for the same page."""
    found: dict[str, set[str]] = {}
    for source in CITED:
        if source.address:
            found.setdefault(source.document, set()).add(source.address.partition("#")[0])
    assert {name: pages for name, pages in found.items() if len(pages) > 1} == {}
