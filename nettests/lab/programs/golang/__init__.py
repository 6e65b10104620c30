"""What Go's standard library gives every Go program, as far as agnhost's output depends on it.

Wire bytes, flags, log lines and error texts of Go programs; nothing here knows agnhost.
"""
