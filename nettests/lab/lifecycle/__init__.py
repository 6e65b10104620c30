"""Start, run and stop a lab.

``launch`` starts and stops it from outside, ``daemon`` is its process, ``supervisor`` joins its parts in that
process, and ``readiness`` waits until it can be used.
"""
