"""``Forecast`` → Markdown for a change request: headline, what changes, notes, sections as tables, bounded."""

from nettests.compare.markdown_tables import table_of
from nettests.forecast.forecast import Forecast
from nettests.forecast.forecast_sections import headline, sections, title_line
from nettests.model.markdown import inert


def render_markdown(forecast: Forecast) -> str:
    """Return the text; it ends with a line feed."""
    lines = [f"## {inert(headline(forecast))}", "", f"- {inert(title_line(forecast))}"]
    lines += [f"- {inert(note)}" for note in forecast.notes]
    for section in sections(forecast):
        lines += ["", *table_of(section)]
    return "\n".join(lines) + "\n"
