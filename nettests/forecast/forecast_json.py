"""``Forecast`` ↔ the document for machines, published as ``forecast.schema.json``; ``nettests diff --forecast`` reads it."""

from typing import Any

from nettests.compare.reading import Readable, read_value
from nettests.forecast.forecast import Forecast
from nettests.forecast.forecast_sections import headline
from nettests.model.codec import to_data
from nettests.model.labels import document_version

API_VERSION = document_version("v1alpha1")
KIND = "Forecast"
FORECAST = Readable(
    kind=KIND,
    version=API_VERSION,
    holds="forecast",
    writers="forecasts",
    hint="name what `nettests forecast --output json` printed",
    again="make it again: nettests forecast RUN --to … --output json",
)


def document(forecast: Forecast) -> dict[str, Any]:
    """Return the document as plain data; checks of which the same is expected are counted, and not listed."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "headline": headline(forecast),
        **to_data(forecast),
    }


def read_forecast(text: str | bytes, name: str) -> Forecast:
    """Return the forecast in the text of a document; ``PathError`` for everything else."""
    return read_value(text, name, FORECAST, Forecast)
