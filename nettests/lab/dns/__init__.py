"""Name resolution in the lab: the cluster's DNS server, the outside resolver, and the clients.

``zone`` decides answers and is pure; ``server`` and ``exchange`` are the only modules here that use
sockets, always those of a namespace. Nothing here reads the API.
"""
