"""Control-plane components of the lab, each a client of its API: scheduler, endpoints, workloads,
garbage, service proxies, DNS feeder.

What decides is pure and stands in modules of its own (``scheduling``, ``endpoints``,
``service_table``); the loops around it only read caches and write objects.
"""
