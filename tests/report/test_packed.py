"""Evidence is packed as names and texts: all that the templates lay out, and nothing that a browser would parse."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from markupsafe import Markup, escape

from nettests.model.visible import visible
from nettests.report import Results, render_html
from nettests.report.harmless import ATTRIBUTES, ELEMENTS, pack, tree
from nettests.report.html_report import evidence
from tests.report.opened import held, opened
from tests.report.sweep import swept
from tests.report.test_html_report import diagnosed


def runs(eventful: Results) -> Iterator[Results]:
    """Yield runs that together have every part of evidence."""
    yield eventful
    yield diagnosed()[0]
    yield swept(lambda action: action.source.node == "win-3")


def test_packing_loses_nothing_that_is_laid_out(eventful_run: Results) -> None:
    """Elements, their attributes and words of each check's evidence are those of the templates."""
    for results in runs(eventful_run):
        page = opened(render_html(results))
        for result in results.checks:
            if result.check is None:
                continue
            (found,) = page.xpath(f"//div[@data-check='{result.id}']")
            meant = html.fragment_fromstring(evidence(result), create_parent="div")
            assert shape(found) == shape(meant)
            assert words(found) == words(meant)


def shape(element: html.HtmlElement) -> Counter[tuple[str, ...]]:
    """Return how often an element of each name and each set of attributes is below this one."""
    below = (one for one in element.iterdescendants() if isinstance(one.tag, str))
    return Counter((one.tag, *sorted(f"{k}={v}" for k, v in one.attrib.items())) for one in below)


def words(element: html.HtmlElement) -> list[str]:
    """Return the texts of an element without what separates them."""
    return ["".join(text.split()) for text in element.itertext() if text.strip()]


@given(st.text(min_size=1).map(visible).filter(str.strip))
def test_any_text_stays_the_same_one_text(text: str) -> None:
    """What a cluster says is one text in the tree, whatever characters it has."""
    markup = Markup("<p>{}</p>").format(text)
    assert escape(text) in markup
    assert tree(markup) == [["p", text]]


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<iframe src='https://example.test'></iframe>",
        "<style>*{}</style>",
        "<a onclick=alert(1) href=javascript:alert(1) style=x id=y>z</a>",
        "<use href='//example.test/x.svg'/>",
    ],
)
def test_only_known_elements_and_attributes_come_out(markup: str) -> None:
    """Were a text ever not escaped, no script, no handler, no foreign address and no style would come of it."""
    for name, attributes in elements(tree(Markup(markup))):
        assert name in ELEMENTS
        assert set(attributes) <= ATTRIBUTES
        assert "href" not in attributes


def elements(nodes: list[Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for node in nodes:
        if isinstance(node, list):
            has = len(node) > 1 and isinstance(node[1], dict)
            yield node[0], node[1] if has else {}
            yield from elements(node[2 if has else 1 :])


def test_line_breaks_of_output_stay_and_those_of_templates_go() -> None:
    """An empty line of a tool's output is kept; the layout of the templates takes no room."""
    markup = Markup("\n  <div>\n    <pre><code>\n\n</code></pre>\n  </div>\n")
    assert tree(markup) == [["div", ["pre", ["code", "\n\n"]]]]


def test_half_a_character_does_not_stop_the_page() -> None:
    """Half a surrogate pair in a text is replaced, as everywhere in the page."""
    assert json.loads(held(pack({"x": ["a\ud800b"]}))) == {"x": ["a?b"]}
