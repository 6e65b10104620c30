"""Anonymise a run: the same answers and verdicts, under other names. Pure.

Below ``session``, which reads the run, compares verdicts and writes the bundle. ``texts`` walks
through a journal and splits texts into tokens, ``names`` knows the words to keep, ``pseudonyms``
replaces all others, ``bundle`` is the file. When in doubt a word is replaced, as in ``redaction``.
"""
