"""When clients send again what was lost: the time-outs of TCP and of resolvers, from their documents.

Read by ``parse`` to find answers that came late for that reason, and by ``probes`` to tell how long a process may
still answer. The harness sets none of them.
"""

SYN_AGAIN = (1.0, 3.0)
"""Seconds after which a connection opens whose first SYN, or first two, were lost (RFC 6298; Windows' ``InitialRto``
is 1 s or 3 s)."""
PROMPT_SECONDS = 0.25
"""Seconds within which answers come where nothing is slow or lost; what was sent again may take that much longer, too."""
QUERY_SECONDS = 5.0
"""How long a resolver waits for a name server before it queries again (resolv.conf(5), ``timeout``)."""
