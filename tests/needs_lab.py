"""Which folders of tests need ``nettests/lab``: read where tests are marked, chosen and left out.

By ``conftest`` for the mark ``lab``, by ``scripts/run_tests.py`` for what is collected with it, by
``scripts/without_lab.py`` for what is deleted with the lab. No test stands here.
"""

NEEDS_LAB = frozenset({"lab", "acceptance", "architecture", "docs", "packaging", "winkernel"})
"""Folders of what tests the lab, runs on it, or is about the whole tree."""
