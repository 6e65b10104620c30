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


def render_page(difference: Difference, more: More = NO_MORE) -> str:
    """Return the page, with ``more`` before the difference itself; it lists every item."""
    style = harmless.style_of_pages()
    page = _environment().get_template("difference.html.j2")
    text = page.render(
        headline=headline(difference),
        runs=[*(run_line(run) for run in (difference.before, difference.after)), *more.lines],
        warnings=(*difference.warnings, *more.warnings),
        sections=(*more.sections, *sections(difference)),
        symbol=SYMBOL,
        style=Markup(style),  # noqa: S704 - shipped with the package
        policy=harmless.policy(style=style),
    )
    return harmless.as_utf8(text)


def render_since(difference: Difference, names: tuple[str, str], address: str = "") -> Markup:
    """Return what a run's page says of its difference from the run before: the folders' ``names``, and that one's page.

    Some items of each section are shown, because a page of a run is about that run; if incidents explain them, the checks that
    they explain stay folded.
    """
    shown = sections(difference)
    explains = any(len(incident.checks_after) > 1 for incident in difference.incidents)
    text = (
        _environment()
        .get_template("since.html.j2")
        .render(
            headline=headline(difference),
            before=names[0],
            after=names[1],
            address=address,
            warnings=difference.warnings,
            sections=shown,
            open=[title for title in OPEN if title != FOLDED or not explains],
            known={
                *(check.id for check in difference.checks),
                *(check.id for check in difference.only_after),
            },
            shown=SHOWN,
            symbol=SYMBOL,
        )
    )
    return Markup(text)  # noqa: S704 - escaped by the template


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.compare")
