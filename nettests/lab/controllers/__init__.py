"""Control-plane components of the lab, each a client of its API: scheduler, endpoints, workloads,
garbage, service proxies, DNS feeder.

Decisions are in pure modules (``scheduling``, ``endpoints``, ``workloads``, ``service_table``); the loops
around them only read caches and write objects.
"""
