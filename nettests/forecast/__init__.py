"""Forecast what an upgrade changes on a cluster, and later compare the forecast with what was observed.

Above ``compare``, whose rules it uses. ``keys`` reads ``--to``, ``changing`` computes the facts after it,
``forecast`` compares plans and expectations on both, ``forecast_sections`` puts it into words. ``fulfilment``
compares a forecast with the difference of two runs. Nothing here opens a cluster, reads a clock or judges a check.
"""

from nettests.forecast.as_documented import Planned
from nettests.forecast.changing import changed
from nettests.forecast.forecast import Forecast, forecast
from nettests.forecast.forecast_json import document, read_forecast
from nettests.forecast.forecast_markdown import render_markdown
from nettests.forecast.forecast_sections import headline, sections, title_line
from nettests.forecast.fulfilment import Fulfilment, fulfilment
from nettests.forecast.fulfilment_sections import (
    forecast_data,
    forecast_line,
    forecast_sections,
    more_of,
)
from nettests.forecast.keys import Change, read_change
from nettests.forecast.notes import notes, other_manifests
from nettests.forecast.patches import at_any_patch, deciding_patches
from nettests.forecast.stated import left_alone, stated_changes

__all__ = [
    "Change",
    "Forecast",
    "Fulfilment",
    "Planned",
    "at_any_patch",
    "changed",
    "deciding_patches",
    "document",
    "forecast",
    "forecast_data",
    "forecast_line",
    "forecast_sections",
    "fulfilment",
    "headline",
    "left_alone",
    "more_of",
    "notes",
    "other_manifests",
    "read_change",
    "read_forecast",
    "render_markdown",
    "sections",
    "stated_changes",
    "title_line",
]
