"""Templates for HTML pages in which texts of a cluster stay texts: escaped, hidden characters named, a strict policy.

Used by every page; each page brings its own templates. Evidence is packed: the page's script unpacks a block when one of
its checks is opened, and makes each element by its name and each text as a text, so that no browser parses it as markup
(decision 0051). This module therefore decides what a tree may contain: elements and attributes that the templates use for
evidence, links of three kinds, and texts. It reads our own templates' output, in which every text is escaped; it is no
sanitiser of foreign markup. Pure; the packed bytes may differ between versions of zlib.
"""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from html.parser import HTMLParser
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from nettests.model.visible import visible


def environment(package: str) -> Environment:
    """Return the environment of a package's templates: everything that they put out is escaped and visible."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )


def style_of_pages() -> str:
    """Return the style sheet that all pages share."""
    return files("nettests.report").joinpath("templates/report.css").read_text("utf-8")


def policy(*, style: str, script: str = "") -> str:
    """Return a Content-Security-Policy that lets nothing act but one style and one script."""
    scripts = f" script-src {_digest(script)};" if script else ""
    return (
        f"default-src 'none'; style-src {_digest(style)};{scripts}"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    )


def as_utf8(page: str) -> str:
    """Return a page that a file can hold: a cluster's text may have half a surrogate pair."""
    return page.encode("utf-8", "replace").decode("utf-8")


def _finalize(value: object) -> object:
    """Make everything that a template puts out visible, what has a text too; markup of our own passes."""
    return value if isinstance(value, Markup) else visible(str(value))


def _digest(source: str) -> str:
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return f"'sha256-{digest}'"


Tree = list[object]
"""Nodes: a text, or ``[name, {attribute: value}?, *nodes]``."""

ELEMENTS = frozenset(
    {
        *("a", "b", "bdi", "code", "dd", "details", "div", "dl", "dt", "figcaption", "figure"),
        *("h4", "li", "p", "pre", "small", "span", "summary", "svg", "table", "tbody", "td"),
        *("th", "thead", "tr", "ul", "use"),
    }
)
"""What evidence is made of; another element stays the text of its tag."""
ATTRIBUTES = frozenset({"aria-hidden", "class", "focusable", "href", "open", "rel", "scope"})
"""What its elements may have; another attribute is left out."""
_ADDRESS = re.compile(r"#|https?://|(?:\.\./)?diagnostics/")
"""How an address may begin: within the page, of a source, in the run's own folder."""


def pack(trees: Mapping[str, Tree]) -> str:
    """Return trees by their check's id as one text: JSON, deflated (zlib's format), in Base64."""
    text = json.dumps(trees, ensure_ascii=False, separators=(",", ":"))
    # A cluster's text may hold half a surrogate pair, which no UTF-8 has.
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def tree(markup: Markup) -> Tree:
    """Return the nodes that a template's markup stands for; the template's own line breaks are none."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.nodes


class _Reader(HTMLParser):
    """Reads what our own templates wrote: every element is closed, and every text was escaped."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: Tree = []
        self._within = [self.nodes]
        self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.handle_data(self.get_starttag_text() or "")
            return
        kept = {name: value or "" for name, value in attrs if _allowed(name, value)}
        node: Tree = [tag, kept] if kept else [tag]
        self._within[-1].append(node)
        self._within.append(node)
        self._verbatim += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if len(self._within) > 1 and self._within[-1][0] == tag:
            self._within.pop()
            self._verbatim -= tag == "pre"

    def handle_data(self, data: str) -> None:
        layout = "\n" in data and not data.strip()
        if self._verbatim or not layout:
            self._within[-1].append(data)


def _allowed(name: str, value: str | None) -> bool:
    if name == "href" and not _ADDRESS.match(value or ""):
        return False
    return name in ATTRIBUTES
