"""``Difference`` → one page for people, which needs no network and no script, in the style of a run's report."""

from functools import lru_cache

from jinja2 import Environment
from markupsafe import Markup

from nettests.compare.difference import Difference
from nettests.compare.items import Section
from nettests.compare.sections import headline, run_line, sections
from nettests.report import harmless
from nettests.report.summary import SYMBOL


def render_page(found: Difference, more: tuple[Section, ...] = ()) -> str:
    """Return the page, with ``more`` sections before its own; it lists every item of every section."""
    style = harmless.style_of_pages()
    page = _environment().get_template("difference.html.j2")
    text = page.render(
        headline=headline(found),
        runs=[run_line(one) for one in (found.before, found.after)],
        warnings=found.warnings,
        sections=(*more, *sections(found)),
        symbol=SYMBOL,
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=harmless.policy(style=style),
    )
    return harmless.as_utf8(text)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.compare")
