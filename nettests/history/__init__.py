"""The history of many runs: their ``results.json`` → a ``History`` → text and a page.

Above ``compare``, which compares the last good and the first bad run of each check. ``levels``
tells a lasting change from a swing, ``trends`` orders runs and joins levels with facts;
``history_text`` words it, ``history_page`` and ``drawing`` make the page. Opens no file, reads no
clock, judges no check.
"""
