"""Forecast what an upgrade changes on a cluster, and later compare the forecast with observations.

Above ``compare``, whose rules it uses. ``keys`` reads ``--to``, ``facts_after`` computes the facts
after it, ``expected_run`` both expectations, ``forecast`` compares them, ``forecast_text`` words the
result. ``fulfilment`` compares a forecast with two runs. Opens no cluster, reads no clock, judges
no check.
"""
