"""When clients retransmit: time-outs of TCP and of resolvers, from their documents.

``parse`` uses them to find answers delayed by a lost packet, ``probes`` to know how long a process
may still answer. The harness sets none of them.
"""

SYN_AGAIN = (1.0, 3.0)
"""Seconds after which a connection opens whose first SYN, or first two, were lost (RFC 6298; Windows' ``InitialRto``
is 1 s or 3 s)."""
PROMPT_SECONDS = 0.25
"""Seconds within which answers arrive without delay or loss, and a retransmission's extra time."""
QUERY_SECONDS = 5.0
"""How long a resolver waits for a name server before it queries again (resolv.conf(5), ``timeout``)."""
SENT_AGAIN_SECONDS = 0.1
"""How much longer than the client's time-out a retransmission takes at most on a fast path. A busy
machine's answers take any time; this keeps false matches rare."""


def after_a_lost_syn(seconds: float) -> bool:
    """Whether an answer took as long as after one or two lost SYNs on an otherwise fast path."""
    return any(0 <= seconds - again <= SENT_AGAIN_SECONDS for again in SYN_AGAIN)
