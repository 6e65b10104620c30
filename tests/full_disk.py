"""A disk without room, as far as the kernel acts it out for one process: its files cannot grow beyond a size."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def room(size: int) -> Iterator[None]:
    """Let writes of this process fail beyond so many bytes of a file; Python ignores the signal that goes with it."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
