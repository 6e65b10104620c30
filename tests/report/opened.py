"""A page with all its evidence unpacked, as it is when every check has been opened: for tests that read it."""

import base64
import json
import re
import zlib
from typing import Any

from lxml import etree, html

PACKED = re.compile(r'(<script type="application/octet-stream" class="packed">)([^<]*)(</script>)')
# sample: '<script type="application/octet-stream" class="packed">eNrtXe1y…==</script>'


def unpacked(page: str) -> str:
    """Return the page's text with each packed block as the JSON that it holds: the same from every zlib."""
    return PACKED.sub(lambda found: found[1] + held(found[2]) + found[3], page)


def opened(page: str) -> html.HtmlElement:
    """Return the page with each check's evidence in its place."""
    document = html.document_fromstring(page)
    chips = set(document.xpath("//a[starts-with(@class, 'chip ')]/@id"))
    for _, block, _ in PACKED.findall(page):
        for check, nodes in json.loads(held(block)).items():
            chips.remove(check)
            place = {"class": "evidence", "data-check": check}
            _put(etree.SubElement(document.find("body"), "div", place), nodes)
    assert not chips, f"without evidence: {sorted(chips)}"
    return document


def held(block: str) -> str:
    """Return the JSON that a packed block holds."""
    return zlib.decompress(base64.b64decode(block)).decode()


def _put(place: html.HtmlElement, nodes: list[Any]) -> None:
    for node in nodes:
        match node:
            case str():
                _add(place, node)
            case [str(name), dict(attributes), *inner]:
                _put(etree.SubElement(place, name, attributes), inner)
            case [str(name), *inner]:
                _put(etree.SubElement(place, name), inner)
            case _:
                raise AssertionError(f"neither a text nor an element: {node!r}")


def _add(place: html.HtmlElement, text: str) -> None:
    if len(place):
        place[-1].tail = (place[-1].tail or "") + text
    else:
        place.text = (place.text or "") + text
