"""Threads that read from one cluster concurrently, and that an interrupt ends at once.

For discovery and ``gc``, which a user may interrupt while an API server does not answer. Clean-up
has its own threads: an interrupt there must not close the connection.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from nettests.cluster.connection import Connection


@contextmanager
def threads(connection: Connection, name: str) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool as large as concurrent requests; an interrupt closes the connection."""
    with ThreadPoolExecutor(connection.bounds.requests_open, name) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            connection.close()
            raise
