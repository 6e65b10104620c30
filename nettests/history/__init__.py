"""The history of many runs: their ``results.json`` → a ``History`` → text and a page.

Above ``compare``, which compares the last good and the first bad run of each check. ``levels`` tells a lasting change
from a swing, ``trends`` puts runs in order and joins levels with the facts; ``history_text`` puts it into words, and
``history_page`` and ``drawing`` make the page. Nothing here opens a file, reads a clock or judges a check.
"""
