"""HTML templates in which cluster text stays text: escaped, hidden characters named, strict CSP.

Used by every page; each brings its own templates. Evidence is packed: the page's script unpacks a
block when a user opens one of its checks, and creates elements by name and text as text nodes, so
no browser parses it as markup (decision 0051). So this module decides what a tree may contain: the
elements and attributes that the templates use for evidence, three kinds of links, and text. It
reads only the output of our own templates, where all text is escaped; it does not sanitise foreign
markup. Pure; packed bytes may differ between versions of zlib.
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

from nettests.model.visible import inert, visible


def environment(package: str, *, markdown: bool = False) -> Environment:
    """Return the environment of a package's templates: output is escaped and all of it visible."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=not markdown,  # noqa: S701 - Markdown is escaped by ``finalize``
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize_markdown if markdown else _finalize,
    )


def render_page(
    templates: Environment, name: str, *, style_sheet: str = "", **values: object
) -> str:
    """Return a page in the style that all pages share, and that of a sheet beside its template."""
    style = files("nettests.report").joinpath("templates/report.css").read_text("utf-8")
    if style_sheet and templates.loader:
        style += templates.loader.get_source(templates, style_sheet)[0]
    text = templates.get_template(name).render(
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=policy(style=style),
        **values,
    )
    return as_utf8(text)


def policy(*, style: str, script: str = "") -> str:
    """Return a Content-Security-Policy that allows one style, one script and nothing else."""
    scripts = f" script-src {_digest(script)};" if script else ""
    return (
        f"default-src 'none'; style-src {_digest(style)};{scripts}"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    )


def as_utf8(page: str) -> str:
    """Replace lone surrogates, which text from a cluster may contain and UTF-8 cannot encode."""
    return page.encode("utf-8", "replace").decode("utf-8")


def _finalize(value: object) -> object:
    """Show hidden characters in everything a template outputs except our own markup."""
    return value if isinstance(value, Markup) else visible(str(value))


def _finalize_markdown(value: object) -> object:
    return value if isinstance(value, Markup) else inert(str(value))


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
"""Elements allowed in evidence; any other is kept as the text of its tag."""
ATTRIBUTES = frozenset({"aria-hidden", "class", "focusable", "href", "open", "rel", "scope"})
"""Attributes allowed on these elements; any other is dropped."""
_ADDRESS = re.compile(r"#|https?://|(?:\.\./)?diagnostics/")
"""Allowed prefixes of a link: within the page, a source, or the run's own folder."""


def pack(trees: Mapping[str, Tree]) -> str:
    """Encode trees, keyed by check id, as JSON, compressed (zlib) and in Base64."""
    text = json.dumps(trees, ensure_ascii=False, separators=(",", ":"))
    # A cluster's text may contain lone surrogates, which UTF-8 cannot encode.
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()


def tree(markup: Markup) -> Tree:
    """Parse a template's markup into nodes, without the line breaks of the template itself."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.nodes


class _Reader(HTMLParser):
    """Parses the output of our own templates: every element is closed and all text is escaped."""

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
