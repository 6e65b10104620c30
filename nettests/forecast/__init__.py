"""Forecast what an upgrade changes on a cluster, and later compare the forecast with what was observed.

Above ``compare``, whose rules it uses. ``keys`` reads ``--to``, ``changing`` computes the facts after it, ``planned``
what is expected on both, ``forecast`` compares them, ``forecast_text`` puts it into words. ``fulfilment`` compares a
forecast with the difference of two runs. Nothing here opens a cluster, reads a clock or judges a check.
"""
