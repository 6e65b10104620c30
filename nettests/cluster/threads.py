"""Threads that read from one cluster at the same time, and are not waited for once somebody wants the end.

Around discovery and what ``gc`` looks at, which a person may interrupt while an API server says nothing. Clean-up has
threads of its own: an interrupt there must not close the connection that it needs.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from nettests.cluster.connection import Connection


@contextmanager
def threads(connection: Connection, name: str) -> Iterator[ThreadPoolExecutor]:
    """Give as many as there may be requests under way; an interrupt closes the connection, which ends what they wait for."""
    with ThreadPoolExecutor(connection.bounds.requests_open, name) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            connection.close()
            raise
