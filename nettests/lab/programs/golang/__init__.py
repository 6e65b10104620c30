"""The parts of Go's standard library that agnhost's output depends on.

Wire bytes, flags, log lines and error texts of Go programs in general.
"""
