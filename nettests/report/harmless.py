"""Templates for HTML pages in which texts of a cluster stay texts: escaped, hidden characters named, a strict policy.

Used by every page; each page brings its own templates.
"""

import base64
import hashlib
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
    """Make every text that a template puts out visible; markup of our own passes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _digest(source: str) -> str:
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    return f"'sha256-{digest}'"
