"""How a lab begins, runs and ends.

``launch`` starts and ends it from outside, ``daemon`` is its own process, ``supervisor`` joins its parts in that
process, and ``readiness`` says when others may use it.
"""
