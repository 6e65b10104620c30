"""``Difference`` → one HTML page without network access or script, in the style of a run's report.

Also renders the part of a run's own page that says what changed since the previous run.
"""

from functools import lru_cache

from jinja2 import Environment
from markupsafe import Markup

from nettests.compare.difference import Difference
from nettests.compare.items import NO_MORE, More
from nettests.compare.sections import headline, run_line, sections
from nettests.report import harmless
from nettests.report.summary import SYMBOL

OPEN = ("Incidents", "New failures", "Repaired", "Changed facts")
"""Sections of a run's page that are open at first sight."""
FOLDED = "New failures"
"""Of these the one that is folded where causes explain what is in it."""
SHOWN = 8
"""Items of a section on a run's page."""


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


def render_since(found: Difference, names: tuple[str, str], address: str = "") -> Markup:
    """Return what a run's page says of its difference from the run before: the folders' ``names``, and that one's page.

    Some items of each section are shown, because a page of a run is about that run; where causes are told, the checks that
    they explain stay folded.
    """
    told = sections(found)
    explains = any(len(one.checks_after) > 1 for one in found.incidents)
    text = (
        _environment()
        .get_template("since.html.j2")
        .render(
            headline=headline(found),
            before=names[0],
            after=names[1],
            address=address,
            warnings=found.warnings,
            sections=told,
            open=[title for title in OPEN if title != FOLDED or not explains],
            known={*(one.id for one in found.checks), *(one.id for one in found.only_after)},
            shown=SHOWN,
            symbol=SYMBOL,
        )
    )
    return Markup(text)  # noqa: S704 - escaped by the template


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.compare")
