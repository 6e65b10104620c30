"""Sockets of a program: in its container's namespace, with the behaviour of its operating system.

``transport`` (TCP and UDP, with each system's error texts) and ``icmp`` send real packets.
"""
