"""Sockets of a program: made in its container's namespace, behaving as its OS's would.

``tcp``, ``udp`` and ``icmp`` carry real packets; ``texts`` holds each OS's words for what went wrong.
"""
