"""The readings of ``scripts/samples.py``: a module for each topic, which maps a reading's name to its function.

A module that exports ``READINGS`` is found by itself; a name that ends with ``*`` stands for all names that begin so.
"""
