"""``Difference`` → one page for people, which needs no network and no script, in the style of a run's report."""

from functools import lru_cache

from jinja2 import Environment
from markupsafe import Markup

from nettests.compare.difference import Difference
from nettests.compare.items import NO_MORE, More
from nettests.compare.sections import headline, run_line, sections
from nettests.report import harmless
from nettests.report.summary import SYMBOL


def render_page(found: Difference, more: More = NO_MORE) -> str:
    """Return the page, with what somebody else says of the difference before its own; it lists every item."""
    style = harmless.style_of_pages()
    page = _environment().get_template("difference.html.j2")
    text = page.render(
        headline=headline(found),
        runs=[*(run_line(run) for run in (found.before, found.after)), *more.lines],
        warnings=(*found.warnings, *more.warnings),
        sections=(*more.sections, *sections(found)),
        symbol=SYMBOL,
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=harmless.policy(style=style),
    )
    return harmless.as_utf8(text)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.compare")
