"""Check that entries with an unspecified outcome say why: what would settle it, and how a known bug shows.

For authors of manifests, through ``lint``. ``unspecified`` is easy to write, so each such entry has to name what
would settle it; if a known bug is the reason, it also names what is observed when the bug is present.
"""

from collections.abc import Iterable, Iterator

from nettests.expect.manifest import Limitation
from nettests.model.words import Category


def unexplained(entries: Iterable[Limitation]) -> Iterator[str]:
    """Yield one sentence for each open entry without an explanation, and each other entry with one."""
    for entry in entries:
        yield from _way_out(entry)
        yield from _bad_outcome(entry)


def _way_out(entry: Limitation) -> Iterator[str]:
    if entry.is_open and not entry.settled_by and not entry.part:
        yield (
            f"{entry.place}: {entry.id} is unspecified and does not say what would settle it; "
            "write settled_by: a reading, a document or a test that would decide"
        )
    if entry.settled_by and not entry.is_open and not entry.part:
        yield f"{entry.place}: {entry.id} has settled_by, and what it expects is settled; take it out"


def _bad_outcome(entry: Limitation) -> Iterator[str]:
    open_bug = entry.is_open and entry.category is Category.BUG
    if open_bug and entry.when_present is None:
        yield (
            f"{entry.place}: {entry.id} is unspecified because of a bug and does not say how the bug shows; "
            "write when_present: {outcome: ...}, or another category if no bug leaves it open"
        )
    if entry.when_present and not open_bug:
        yield (
            f"{entry.place}: {entry.id} has when_present, which belongs to entries that are unspecified and of "
            f"category bug; this one is of category {entry.category}"
        )
